//! Objects outside of models. Without the feature `enforce`, their use outside is an error. With
//! the feature, the objects are real: hardware atomics, threads of the system, and objects that
//! really block but choose the next thread as in the model (`enforce::blocking`).
//!
//! Each operation performs the same events as in a model, in the same order, so that verified
//! schedules can be enforced outside.

/// Returns this value from the calling function if the current thread does not run a model. Expands
/// to nothing without the feature `enforce`.
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

/// Checks whether the caller runs outside of a model. Always returns false without the feature
/// `enforce`.
#[inline(always)]
pub fn is_outside() -> bool {
    cfg!(feature = "enforce") && crate::engine::perform::current().is_none()
}

/// Runs `does` as an event of this kind, outside of models.
#[cfg(feature = "enforce")]
#[inline(always)]
pub(crate) fn event<R>(kind: explore::OpKind, does: impl FnOnce() -> R) -> R {
    enforce::begin(kind);
    let result = does();
    enforce::end();
    result
}

/// Ends an enforced program before it does something that cannot be enforced.
#[cfg(feature = "enforce")]
pub(crate) fn refuse(what: &str) {
    if enforce::is_enforced() {
        enforce::fail(&format!(
            "the program {what}, which cannot be enforced; run it without `mazurka run`"
        ));
    }
}

/// Sleeps. With the feature `enforce`, publishes the thread's events first. This is for use outside
/// of models only.
pub fn pause(time: std::time::Duration) {
    #[cfg(feature = "enforce")]
    enforce::publish();
    std::thread::sleep(time);
}

/// Runs `does` as a read-modify-write of the program. This is for use outside of models only.
pub fn modify_outside<R>(does: impl FnOnce() -> R) -> R {
    #[cfg(feature = "enforce")]
    enforce::begin(explore::OpKind::ReadModifyWrite);
    let result = does();
    #[cfg(feature = "enforce")]
    enforce::end();
    result
}
