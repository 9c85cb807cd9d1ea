//! The floating-point environment of a thread: rounding and exceptions. The processor has only one,
//! so a switch from a thread to the checker saves the thread's environment, and the switch back
//! restores it.

/// The control and status register of SSE, the control word of the x87, and the exceptions that the
/// x87 has raised.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct ControlWords {
    #[cfg(target_arch = "x86_64")]
    sse: u32,
    #[cfg(target_arch = "x86_64")]
    x87: u16,
    #[cfg(target_arch = "x86_64")]
    raised: u16,
}

/// The exception bits in the status of the x87. The rest of the status belongs to the last
/// comparison and to the register stack. The register of SSE has the exceptions in the same bits.
#[cfg(target_arch = "x86_64")]
const EXCEPTIONS: u16 = 0x3f;

impl ControlWords {
    /// Returns words that are not set yet.
    pub const fn new() -> ControlWords {
        ControlWords {
            #[cfg(target_arch = "x86_64")]
            sse: 0,
            #[cfg(target_arch = "x86_64")]
            x87: 0,
            #[cfg(target_arch = "x86_64")]
            raised: 0,
        }
    }

    /// Returns the control words of the processor.
    #[inline(always)]
    pub fn now() -> ControlWords {
        #[allow(unused_mut, reason = "changed on x86-64 only")]
        let mut words = ControlWords::new();
        #[cfg(target_arch = "x86_64")]
        // SAFETY: the instructions store to the fields.
        unsafe {
            std::arch::asm!(
                "stmxcsr [{}]",
                "fnstcw [{}]",
                "fnstsw [{}]",
                in(reg) &raw mut words.sse,
                in(reg) &raw mut words.x87,
                in(reg) &raw mut words.raised,
                options(nostack, preserves_flags),
            );
            words.raised &= EXCEPTIONS;
        }
        words
    }

    /// Returns the words without raised exceptions. Programs begin in this state. If the checker is
    /// in the same state, a switch between the two loads nothing.
    #[allow(unused_mut, reason = "changed on x86-64 only")]
    pub(crate) fn without_exceptions(mut self) -> ControlWords {
        #[cfg(target_arch = "x86_64")]
        {
            self.sse &= !u32::from(EXCEPTIONS);
            self.raised = 0;
        }
        self
    }

    /// Returns all words as bytes.
    pub(crate) fn bytes(self) -> [u8; 8] {
        #[allow(unused_mut, reason = "changed on x86-64 only")]
        let mut bytes = [0; 8];
        #[cfg(target_arch = "x86_64")]
        {
            bytes[..4].copy_from_slice(&self.sse.to_ne_bytes());
            bytes[4..6].copy_from_slice(&self.x87.to_ne_bytes());
            bytes[6..].copy_from_slice(&self.raised.to_ne_bytes());
        }
        bytes
    }

    /// Sets the control words of the processor.
    #[inline(always)]
    pub fn set(self) {
        self.replace(ControlWords::now());
    }

    /// Sets the control words of a thread after the checker has run with its own words,
    /// `checkers`. The checker may have raised exceptions of SSE, but does not use the x87.
    #[inline(always)]
    pub(crate) fn set_after(self, checkers: ControlWords) {
        #[allow(unused_mut, reason = "changed on x86-64 only")]
        let mut now = checkers;
        #[cfg(target_arch = "x86_64")]
        // SAFETY: the instruction stores to the field.
        unsafe {
            std::arch::asm!("stmxcsr [{}]", in(reg) &raw mut now.sse, options(nostack, preserves_flags));
        }
        debug_assert_eq!(now, ControlWords::now(), "the checker does not use the x87");
        self.replace(now);
    }

    /// Sets the control words of the processor, given its current words `now`.
    #[inline(always)]
    pub(crate) fn replace(self, now: ControlWords) {
        if self != now {
            self.load(now);
        }
    }

    /// Loads the words. Loads the environment of the x87 only if its words differ, because this
    /// takes longest, and most programs do not use the x87.
    #[cold]
    #[allow(unused_variables, reason = "used on x86-64 only")]
    fn load(self, now: ControlWords) {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: `now` stored the words, and the array has the size of the x87 environment.
        unsafe {
            std::arch::asm!("ldmxcsr [{}]", in(reg) &raw const self.sse, options(nostack, preserves_flags));
            if (self.x87, self.raised) == (now.x87, now.raised) {
                return;
            }
            // In an environment the control word comes first, and the status is the third word.
            let mut environment = [0_u16; 14];
            std::arch::asm!("fnstenv [{}]", in(reg) &raw mut environment, options(nostack, preserves_flags));
            environment[0] = self.x87;
            environment[2] = environment[2] & !EXCEPTIONS | self.raised;
            std::arch::asm!("fldenv [{}]", in(reg) &raw const environment, options(nostack, preserves_flags));
        }
    }
}
