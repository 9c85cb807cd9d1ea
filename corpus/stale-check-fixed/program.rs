//! stale-check-fixed: two consumers await that a buffer has something and take it in the same segment, while
//! a producer puts two elements.

use crate::entry::Entry;
use actors::object::Object;

pub(crate) const ENTRY: Entry = Entry {
    name: "stale-check-fixed",
    about: "two consumers await that an object has an element and take it before they release the object",
    parameters: &[],
    body: |_| stale_check_fixed(),
    expect: include_str!("expect.toml"),
};

fn stale_check_fixed() {
    let buffer = Object::new(Vec::new());
    let consumers = [(), ()].map(|()| {
        buffer.call("consume", |buffer| {
            let has_element = |elements: &Vec<u32>| !elements.is_empty();
            buffer.write_when(has_element, |elements| {
                elements.pop().expect("there is one")
            })
        })
    });
    for element in [1, 2] {
        buffer.write(|elements| elements.push(element));
    }
    let sum: u32 = consumers.iter().map(|consumer| consumer.get()).sum();
    assert_eq!(sum, 3);
}
