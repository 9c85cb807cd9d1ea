//! How a thread computes with floating-point numbers: rounding, exceptions. Each thread has its own; the processor has
//! one at a time.

/// The control and status register of SSE, and of the x87 the control word and the exceptions that it has met.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct ControlWords {
    #[cfg(target_arch = "x86_64")]
    sse: u32,
    #[cfg(target_arch = "x86_64")]
    x87: u16,
    #[cfg(target_arch = "x86_64")]
    met: u16,
}

/// The exceptions in the status of the x87. The rest of it belongs to the last comparison and to the stack of registers.
/// The register of SSE has them in the same bits.
#[cfg(target_arch = "x86_64")]
const EXCEPTIONS: u16 = 0x3f;

impl ControlWords {
    /// None yet.
    pub const fn new() -> ControlWords {
        ControlWords {
            #[cfg(target_arch = "x86_64")]
            sse: 0,
            #[cfg(target_arch = "x86_64")]
            x87: 0,
            #[cfg(target_arch = "x86_64")]
            met: 0,
        }
    }

    /// Those of the processor.
    #[inline(always)]
    pub fn now() -> ControlWords {
        #[allow(unused_mut, reason = "other processors have none here")]
        let mut words = ControlWords::new();
        #[cfg(target_arch = "x86_64")]
        // SAFETY: stores to the fields.
        unsafe {
            std::arch::asm!(
                "stmxcsr [{}]",
                "fnstcw [{}]",
                "fnstsw [{}]",
                in(reg) &raw mut words.sse,
                in(reg) &raw mut words.x87,
                in(reg) &raw mut words.met,
                options(nostack, preserves_flags),
            );
            words.met &= EXCEPTIONS;
        }
        words
    }

    /// The same, with no exception met. Programs begin like that, so that switches between them and a checker that
    /// computes in this way have nothing to load.
    #[allow(unused_mut, reason = "other processors have none here")]
    pub(crate) fn without_exceptions(mut self) -> ControlWords {
        #[cfg(target_arch = "x86_64")]
        {
            self.sse &= !u32::from(EXCEPTIONS);
            self.met = 0;
        }
        self
    }

    /// All of them.
    pub(crate) fn bytes(self) -> [u8; 8] {
        #[allow(unused_mut, reason = "other processors have none here")]
        let mut bytes = [0; 8];
        #[cfg(target_arch = "x86_64")]
        {
            bytes[..4].copy_from_slice(&self.sse.to_ne_bytes());
            bytes[4..6].copy_from_slice(&self.x87.to_ne_bytes());
            bytes[6..].copy_from_slice(&self.met.to_ne_bytes());
        }
        bytes
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
            self.load(now);
        }
    }

    /// Most programs leave the x87 alone, and loading its environment takes longest.
    #[cold]
    #[allow(unused_variables, reason = "other processors have none here")]
    fn load(self, now: ControlWords) {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: the words were stored by `now`, and the environment of the x87 has the size that it is given.
        unsafe {
            std::arch::asm!("ldmxcsr [{}]", in(reg) &raw const self.sse, options(nostack, preserves_flags));
            if (self.x87, self.met) == (now.x87, now.met) {
                return;
            }
            // In an environment the control word comes first, and the status is the third word.
            let mut environment = [0_u16; 14];
            std::arch::asm!("fnstenv [{}]", in(reg) &raw mut environment, options(nostack, preserves_flags));
            environment[0] = self.x87;
            environment[2] = environment[2] & !EXCEPTIONS | self.met;
            std::arch::asm!("fldenv [{}]", in(reg) &raw const environment, options(nostack, preserves_flags));
        }
    }
}
