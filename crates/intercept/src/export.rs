//! Entry code of the functions that the program calls.

/// The end of an exported function if the remains of its hook (the function's body) must be wiped
/// from the stack: the instructions `aligns`, which align the stack, a call of the hook, and a jump
/// to `wipe`. During the call, `frame` bytes of the stack are in use below the caller's frame: the
/// return address, and `left` other bytes, which are removed before the jump.
macro_rules! wiping_end {
    ($aligns:literal, $frame:literal, $left:literal) => {
        concat!(
            $aligns,
            "\n.cfi_def_cfa_offset ",
            $frame,
            "\ncall {hook}\nadd rsp, ",
            $left,
            "\n.cfi_def_cfa_offset 8\njmp {wipe}",
        )
    };
}

/// Defines functions that the program calls. Each function begins with a few instructions. If the
/// calling code is that of the program under check, they record the frame of the call (registers
/// and return address) in `FRAME` before the body runs. There are four kinds of functions:
///
/// * `placed`: only the return address is recorded.
/// * `compared`: the call-preserved registers are also recorded, for the await rule, which compares
///   a thread's states.
/// * `reading`: a hook before a plain read, which records the same as `compared`.
/// * `writing`: a hook before a plain write, which records the same as `placed`.
macro_rules! export {
    ($($(#[$meta:meta])* $kind:ident fn $name:ident($($argument:ident: $type:ty),* $(,)?) $(-> $result:ty)? $body:block)*) => {
        $(export!(@$kind [$(#[$meta])*] $name ($($argument: $type),*) ($(-> $result)?) $body);)*
    };
    (@compared [$(#[$meta:meta])*] $name:ident ($($argument:ident: $type:ty),*) ($(-> $result:ty)?) $body:block) => {
        const _: () = {
            #[allow(clippy::too_many_arguments, reason = "the ABI requires them")]
            unsafe extern "C-unwind" fn hook($($argument: $type),*) $(-> $result)? $body

            $(#[$meta])*
            #[unsafe(no_mangle)]
            #[unsafe(naked)]
            unsafe extern "C-unwind" fn $name($(_: export!(@type $argument $type)),*) $(-> $result)? {
                std::arch::naked_asm!(
                    ".cfi_startproc",
                    "push rbx", "push rbp", "push r12", "push r13", "push r14", "push r15",
                    // Only the thread that runs the program may write the frame (see `gate`).
                    "mov rax, fs:0",
                    "cmp rax, [rip + {inside}]",
                    "jne 2f",
                    "mov [rip + {frame}], rsp",
                    "cmp byte ptr [rip + {wipes}], 0",
                    "jne 3f",
                    "2:",
                    // The hook must find a seventh word argument on the stack, at its usual offset.
                    "push qword ptr [rsp + 56]",
                    ".cfi_def_cfa_offset 64",
                    "call {hook}",
                    "add rsp, 56",
                    ".cfi_def_cfa_offset 8",
                    "ret",
                    "3:",
                    wiping_end!("push qword ptr [rsp + 56]", 64, 56),
                    ".cfi_endproc",
                    frame = sym $crate::gate::FRAME,
                    inside = sym $crate::gate::INSIDE,
                    hook = sym hook,
                    wipes = sym runtime::native::WIPES,
                    wipe = sym $crate::gate::wipe,
                )
            }
        };
    };
    (@placed [$(#[$meta:meta])*] $name:ident ($($argument:ident: $type:ty),*) ($(-> $result:ty)?) $body:block) => {
        const _: () = {
            #[allow(clippy::too_many_arguments, reason = "the ABI requires them")]
            unsafe extern "C-unwind" fn hook($($argument: $type),*) $(-> $result)? $body

            $(#[$meta])*
            #[unsafe(no_mangle)]
            #[unsafe(naked)]
            unsafe extern "C-unwind" fn $name($(_: export!(@type $argument $type)),*) $(-> $result)? {
                std::arch::naked_asm!(
                    ".cfi_startproc",
                    "mov rax, fs:0",
                    "cmp rax, [rip + {inside}]",
                    "jne 2f",
                    // A frame begins with six registers. They are not recorded here, but their
                    // places below the return address exist.
                    "lea rax, [rsp - 48]",
                    "mov [rip + {frame}], rax",
                    "cmp byte ptr [rip + {wipes}], 0",
                    "jne 3f",
                    "2:",
                    "jmp {hook}",
                    "3:",
                    // The hook must find a seventh word argument on the stack, at its usual offset.
                    wiping_end!("push qword ptr [rsp + 8]", 16, 8),
                    ".cfi_endproc",
                    frame = sym $crate::gate::FRAME,
                    inside = sym $crate::gate::INSIDE,
                    hook = sym hook,
                    wipes = sym runtime::native::WIPES,
                    wipe = sym $crate::gate::wipe,
                )
            }
        };
    };
    // Hooks before plain accesses. Outside a check, they do nothing but count the access, and they
    // count it only if the program is enforced (runs under a safe trace).
    (@reading [$(#[$meta:meta])*] $name:ident ($argument:ident: $type:ty) () $body:block) => {
        export!(@plain $name ($argument: $type) $body [compare] enforce::plain_read);
    };
    (@writing [$(#[$meta:meta])*] $name:ident ($argument:ident: $type:ty) () $body:block) => {
        export!(@plain $name ($argument: $type) $body [place] enforce::plain_write);
    };
    (@plain $name:ident ($argument:ident: $type:ty) $body:block [compare] $outside:path) => {
        const _: () = {
            unsafe extern "C-unwind" fn hook($argument: $type) $body

            #[unsafe(no_mangle)]
            #[unsafe(naked)]
            unsafe extern "C-unwind" fn $name(_: $type) {
                std::arch::naked_asm!(
                    ".cfi_startproc",
                    "mov rax, fs:0",
                    "cmp rax, [rip + {inside}]",
                    "jne 2f",
                    "push rbx", "push rbp", "push r12", "push r13", "push r14", "push r15",
                    "mov [rip + {frame}], rsp",
                    "cmp byte ptr [rip + {wipes}], 0",
                    "jne 3f",
                    "sub rsp, 8",
                    ".cfi_def_cfa_offset 64",
                    "call {hook}",
                    "add rsp, 56",
                    ".cfi_def_cfa_offset 8",
                    "ret",
                    "2:",
                    "jmp {outside}",
                    "3:",
                    wiping_end!("sub rsp, 8", 64, 56),
                    ".cfi_endproc",
                    frame = sym $crate::gate::FRAME,
                    inside = sym $crate::gate::INSIDE,
                    hook = sym hook,
                    wipes = sym runtime::native::WIPES,
                    wipe = sym $crate::gate::wipe,
                    outside = sym $outside,
                )
            }
        };
    };
    (@plain $name:ident ($argument:ident: $type:ty) $body:block [place] $outside:path) => {
        const _: () = {
            unsafe extern "C-unwind" fn hook($argument: $type) $body

            #[unsafe(no_mangle)]
            #[unsafe(naked)]
            unsafe extern "C-unwind" fn $name(_: $type) {
                std::arch::naked_asm!(
                    ".cfi_startproc",
                    "mov rax, fs:0",
                    "cmp rax, [rip + {inside}]",
                    "jne {outside}",
                    // A frame begins with six registers. They are not recorded here, but their
                    // places below the return address exist.
                    "lea rax, [rsp - 48]",
                    "mov [rip + {frame}], rax",
                    "cmp byte ptr [rip + {wipes}], 0",
                    "jne 3f",
                    "jmp {hook}",
                    "3:",
                    wiping_end!("sub rsp, 8", 16, 8),
                    ".cfi_endproc",
                    frame = sym $crate::gate::FRAME,
                    inside = sym $crate::gate::INSIDE,
                    hook = sym hook,
                    wipes = sym runtime::native::WIPES,
                    wipe = sym $crate::gate::wipe,
                    outside = sym $outside,
                )
            }
        };
    };
    (@type $argument:ident $type:ty) => { $type };
}
