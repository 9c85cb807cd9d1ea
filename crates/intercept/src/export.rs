//! How the functions are entered that the program calls.

/// The end of a function that wipes the stack behind its hook, which it calls after `aligns`; `frame` bytes then lie below the caller's
/// frame, of which `left` are its own.
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

/// Functions that the program calls. Each one is entered through a few instructions that note where it was
/// called; with `compared` also the registers that calls preserve, for the await rule. `reading` and `writing` are the
/// same for the hooks before plain accesses.
macro_rules! export {
    ($($(#[$meta:meta])* $kind:ident fn $name:ident($($argument:ident: $type:ty),* $(,)?) $(-> $result:ty)? $body:block)*) => {
        $(export!(@$kind [$(#[$meta])*] $name ($($argument: $type),*) ($(-> $result)?) $body);)*
    };
    (@compared [$(#[$meta:meta])*] $name:ident ($($argument:ident: $type:ty),*) ($(-> $result:ty)?) $body:block) => {
        const _: () = {
            #[allow(clippy::too_many_arguments, reason = "the ABI says so")]
            unsafe extern "C-unwind" fn hook($($argument: $type),*) $(-> $result)? $body

            $(#[$meta])*
            #[unsafe(no_mangle)]
            #[unsafe(naked)]
            unsafe extern "C-unwind" fn $name($(_: export!(@type $argument $type)),*) $(-> $result)? {
                std::arch::naked_asm!(
                    ".cfi_startproc",
                    "push rbx", "push rbp", "push r12", "push r13", "push r14", "push r15",
                    // Other threads of the process, which are never inside, must not touch the frame.
                    "mov rax, fs:0",
                    "cmp rax, [rip + {inside}]",
                    "jne 2f",
                    "mov [rip + {frame}], rsp",
                    "cmp byte ptr [rip + {wipes}], 0",
                    "jne 3f",
                    "2:",
                    // The hook finds an argument on the stack where it would be without this: the seventh word.
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
            #[allow(clippy::too_many_arguments, reason = "the ABI says so")]
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
                    // Below the return address there is room for the registers of a frame.
                    "lea rax, [rsp - 48]",
                    "mov [rip + {frame}], rax",
                    "cmp byte ptr [rip + {wipes}], 0",
                    "jne 3f",
                    "2:",
                    "jmp {hook}",
                    "3:",
                    // As above.
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
    // The hooks before plain accesses. Where the checker is not, all that may be to do is to count.
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
                    // Below the return address there is room for the registers of a frame.
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
