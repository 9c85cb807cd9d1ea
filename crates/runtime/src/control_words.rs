//! How a thread computes with floating-point numbers: rounding, exceptions. Each thread has its own; the processor has
//! one at a time.

/// The control and status register of SSE, and the control word of the x87.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct ControlWords {
    #[cfg(target_arch = "x86_64")]
    sse: u32,
    #[cfg(target_arch = "x86_64")]
    x87: u16,
}

impl ControlWords {
    /// None yet.
    pub const fn new() -> ControlWords {
        ControlWords {
            #[cfg(target_arch = "x86_64")]
            sse: 0,
            #[cfg(target_arch = "x86_64")]
            x87: 0,
        }
    }

    /// Those of the processor.
    #[inline(always)]
    pub fn now() -> ControlWords {
        #[allow(unused_mut, reason = "other processors have none here")]
        let mut words = ControlWords::new();
        #[cfg(target_arch = "x86_64")]
        // SAFETY: stores to the two fields.
        unsafe {
            std::arch::asm!(
                "stmxcsr [{}]",
                "fnstcw [{}]",
                in(reg) &raw mut words.sse,
                in(reg) &raw mut words.x87,
                options(nostack, preserves_flags),
            );
        }
        words
    }

    /// The processor computes with these from here on.
    #[inline(always)]
    pub fn set(self) {
        self.replace(ControlWords::now());
    }

    /// The same for a caller that knows the processor's control words.
    #[inline(always)]
    pub(crate) fn replace(self, now: ControlWords) {
        if self != now {
            self.load();
        }
    }

    #[cold]
    fn load(self) {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: the words were stored by `now`.
        unsafe {
            std::arch::asm!(
                "ldmxcsr [{}]",
                "fldcw [{}]",
                in(reg) &raw const self.sse,
                in(reg) &raw const self.x87,
                options(nostack, preserves_flags),
            );
        }
    }
}
