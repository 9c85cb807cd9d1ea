//! Objects outside of models. Without the feature `enforce` their use there is an error; with it they are real: atomics
//! of the processor, threads of the system, objects that block with the policy of the model (`enforce::blocking`).
//!
//! Each operation performs the events that it is in a model, in their order, so that what was verified in a model is
//! enforced outside.

/// Outside of a model returns this. Nothing without the feature `enforce`.
macro_rules! outside {
    () => {
        #[cfg(feature = "enforce")]
        if $crate::is_outside() {
            return;
        }
    };
    ($real:expr) => {
        #[cfg(feature = "enforce")]
        if $crate::is_outside() {
            return $real;
        }
    };
}

pub(crate) use outside;

/// Whether the calling code is a program outside of a model; never without the feature `enforce`.
#[inline(always)]
pub fn is_outside() -> bool {
    cfg!(feature = "enforce") && crate::perform::current().is_none()
}

/// Something that is an event of this kind, outside of models.
#[cfg(feature = "enforce")]
#[inline(always)]
pub(crate) fn event<R>(kind: explore::OpKind, does: impl FnOnce() -> R) -> R {
    enforce::begin(kind);
    let result = does();
    enforce::end();
    result
}

/// What cannot be enforced ends an enforced program before it goes wrong.
#[cfg(feature = "enforce")]
pub(crate) fn refuse(what: &str) {
    if enforce::is_enforced() {
        enforce::fail(&format!(
            "the program {what}, which cannot be enforced; run it without `mazurka run`"
        ));
    }
}

/// Sleeps, when others know what the thread has performed; outside of models only.
pub fn pause(time: std::time::Duration) {
    #[cfg(feature = "enforce")]
    enforce::publish();
    std::thread::sleep(time);
}

/// Something that is a read-modify-write of the program; outside of models only.
pub fn modify_outside<R>(does: impl FnOnce() -> R) -> R {
    #[cfg(feature = "enforce")]
    enforce::begin(explore::OpKind::ReadModifyWrite);
    let result = does();
    #[cfg(feature = "enforce")]
    enforce::end();
    result
}
