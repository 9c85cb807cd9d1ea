//! stale-check: two consumers each look whether a buffer has something, and take it in a later segment. In between
//! the other one takes it.

use crate::entry::Entry;
use actors::object::Object;

pub(crate) const ENTRY: Entry = Entry {
    name: "stale-check",
    about: "two consumers check that an object has an element, and take it at a later release point",
    parameters: &[],
    body: |_| stale_check(),
    expect: include_str!("expect.toml"),
};

fn stale_check() {
    let buffer = Object::new(vec![1]);
    let consumers = [(), ()].map(|()| {
        buffer.call("consume", |buffer| {
            let has_element = buffer.read(|elements| !elements.is_empty());
            has_element.then(|| buffer.write(|elements| elements.pop().expect("there was one")))
        })
    });
    let taken = consumers.map(|consumer| consumer.get());
    assert_eq!(taken.iter().flatten().count(), 1);
}
