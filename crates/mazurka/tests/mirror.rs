//! Mazurka's types have the names, signatures, traits and behaviour of `std`: the same code
//! compiles with both.

#![allow(dead_code, reason = "some of the code only has to compile")]
#![allow(
    clippy::type_complexity,
    clippy::missing_const_for_thread_local,
    clippy::undocumented_unsafe_blocks,
    reason = "the file is written like the code of a user"
)]

mod with_std {
    mod root {
        pub(crate) use std::*;
    }
    include!("mirror/code.rs");
}

mod with_mazurka {
    mod root {
        pub(crate) use mazurka::*;
    }
    include!("mirror/code.rs");
}

#[test]
fn code_does_the_same_with_std_and_with_mazurka() {
    let expected = with_std::behaviour();
    let report = mazurka::Checker::new().check(move || {
        assert_eq!(with_mazurka::behaviour(), expected);
    });
    assert_eq!(report.verdict, mazurka::Verdict::Verified, "{report}");
}
