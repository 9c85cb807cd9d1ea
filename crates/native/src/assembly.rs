//! Finds inline assembly that accesses memory, in preprocessed C and C++.
//!
//! No hook announces the accesses of inline assembly. So the sources are searched before they are
//! compiled, and a section of the object file ([`SECTION`]) lists the places that were found.

use std::collections::BTreeSet;

/// The section of objects and programs that lists the places. Each place is a C string.
pub(crate) const SECTION: &str = ".mazurka.asm";

/// Prefixes of the names of instructions that access no memory of the program, or only prefetch it.
const HARMLESS: [&str; 37] = [
    "nop",
    "pause",
    "mfence",
    "lfence",
    "sfence",
    "cpuid",
    "rdtsc",
    "rdpmc",
    "xgetbv",
    "ud2",
    "int3",
    "hlt",
    "yield",
    "isb",
    "dmb",
    "dsb",
    "sev",
    "wfe",
    "wfi",
    "cld",
    "std",
    "cli",
    "sti",
    "emms",
    "vzero",
    "serialize",
    "endbr",
    "lea",
    "rdrand",
    "rdseed",
    "prefetch",
    "prfm",
    "push",
    "pop",
    "ret",
    "clflush",
    "clwb",
];

/// Prefixes that may stand before an instruction.
const PREFIXES: [&str; 10] = [
    "lock", "rep", "repe", "repz", "repne", "repnz", "data16", "notrack", "xacquire", "xrelease",
];

/// String instructions, which access memory even without operands.
const STRINGS: [&str; 5] = ["movs", "stos", "cmps", "lods", "scas"];

/// Instructions that run unknown code, which may access memory; and `xlat`, which reads memory.
const UNKNOWN: [&str; 6] = ["syscall", "sysenter", "int", "svc", "call", "xlat"];

/// Directives that emit raw data. Programs use them for instructions that the assembler does not
/// know.
const ENCODED: [&str; 8] = [
    ".byte", ".word", ".short", ".value", ".long", ".quad", ".insn", ".inst",
];

/// Returns the places of statements that access memory, as `file:line`.
pub(crate) fn places(preprocessed: &str) -> BTreeSet<String> {
    let mut places = BTreeSet::new();
    for (at, _) in preprocessed.match_indices("asm") {
        let before = preprocessed[..at].trim_end_matches('_');
        let after = preprocessed[at + "asm".len()..].trim_start_matches('_');
        let is_word = !before.ends_with(|letter: char| letter.is_alphanumeric() || letter == '"')
            && !after.starts_with(char::is_alphanumeric);
        if is_word
            && let Some(statement) = Statement::parse(after)
            && statement.accesses_memory()
        {
            places.extend(place(before));
        }
    }
    places
}

/// Returns source text that puts these places into the section. The build adds it to the source.
pub(crate) fn section_source(places: &BTreeSet<String>) -> String {
    let strings = places.iter().map(|place| {
        let place = place.replace(['"', '\\', '\n'], "?");
        format!(r#"".asciz \"{place}\"\n""#)
    });
    let strings: Vec<String> = strings.collect();
    format!(
        "#ifndef __ASSEMBLER__\n__asm__(\".pushsection {SECTION},\\\"\\\",@progbits\\n\"\n{}\n\".popsection\\n\");\n#endif\n",
        strings.join("\n")
    )
}

/// Returns the places that are listed in the section of a program.
pub(crate) fn places_in(section: &[u8]) -> BTreeSet<String> {
    let places = section.split(|&byte| byte == 0);
    let places = places.filter(|place| !place.is_empty());
    places
        .map(|place| String::from_utf8_lossy(place).into_owned())
        .collect()
}

/// Returns the source position (`file:line`) of the end of a text, according to its last line
/// marker (`# 12 "queue.c"`). Returns `None` if there is no valid line marker.
fn place(before: &str) -> Option<String> {
    let marker = before
        .rfind("\n# ")
        .map(|start| &before[start + "\n# ".len()..]);
    let marker = marker.or_else(|| before.strip_prefix("# "))?;
    let (first, since) = marker.split_once('\n')?;
    let (line, rest) = first.split_once(' ')?;
    let file = rest.strip_prefix('"')?.split('"').next()?;
    let line = line.parse::<usize>().ok()? + since.matches('\n').count();
    Some(format!("{file}:{line}"))
}

/// A statement `asm("template" : outputs : inputs : clobbers)`.
#[derive(Default)]
struct Statement {
    template: String,
    outputs: Vec<String>,
    inputs: Vec<String>,
    clobbers: Vec<String>,
}

impl Statement {
    /// Parses the text after the keyword `asm`. Returns `None` if the text is not an assembly
    /// statement.
    fn parse(text: &str) -> Option<Statement> {
        let is_qualifier = |letter: char| letter.is_alphanumeric() || letter == '_';
        let mut rest = skip_space(text);
        while rest.starts_with(is_qualifier) {
            rest = skip_space(rest.trim_start_matches(is_qualifier));
        }
        rest = skip_space(rest.strip_prefix('(')?);
        rest.starts_with('"').then_some(())?;
        let mut statement = Statement::default();
        let (mut depth, mut section) = (1, 0);
        while depth > 0 {
            let sign = rest.chars().next()?;
            let at_line = rest.strip_prefix("\n# ");
            rest = at_line.map_or_else(
                || &rest[sign.len_utf8()..],
                |marker| marker.trim_start_matches(|letter| letter != '\n'),
            );
            match sign {
                '(' | '[' | '{' => depth += 1,
                ')' | ']' | '}' => depth -= 1,
                ':' if depth == 1 => section += 1,
                '"' => {
                    let (text, after) = string(rest)?;
                    rest = after;
                    match section {
                        _ if depth > 1 => {}
                        0 => statement.template.push_str(&text),
                        1 => statement.outputs.push(text),
                        2 => statement.inputs.push(text),
                        _ => statement.clobbers.push(text),
                    }
                }
                '\'' => rest = character(rest)?,
                _ => {}
            }
        }
        Some(statement)
    }

    fn accesses_memory(&self) -> bool {
        let has_operand = self.has_operand_in_memory();
        let is_clobbered = self.clobbers.iter().any(|clobber| clobber == "memory");
        let mut pieces = self.template.split(['\n', ';']);
        pieces.any(|piece| match Instruction::read(piece) {
            None => false,
            Some(own) if own.is_encoded() => has_operand || is_clobbered,
            Some(own) => own.accesses_memory(has_operand),
        })
    }

    /// Checks whether an operand may be in memory. An input that may also be in a register does not
    /// count: the compiler loads it before the statement.
    fn has_operand_in_memory(&self) -> bool {
        let is_memory = |letter: char| "moVg<>".contains(letter);
        let outputs = self.outputs.iter();
        let mut outputs = outputs.map(|constraint| constraint.contains(is_memory));
        let mut inputs = self.inputs.iter().map(|constraint| {
            let mut letters = constraint.chars().filter(char::is_ascii_alphabetic);
            constraint.contains(is_memory) && letters.all(|letter| "moV".contains(letter))
        });
        outputs.any(|found| found) || inputs.any(|found| found)
    }
}

/// An instruction of a template.
struct Instruction {
    name: String,
    operands: Vec<String>,
}

impl Instruction {
    fn read(piece: &str) -> Option<Instruction> {
        let mut text = piece.split('#').next().unwrap_or_default().trim();
        while let Some((label, rest)) = text.split_once(':')
            && !label.contains(char::is_whitespace)
        {
            text = rest.trim_start();
        }
        let mut words = text.splitn(2, char::is_whitespace);
        let name = words.next().unwrap_or_default().to_ascii_lowercase();
        let rest = words.next().unwrap_or_default().trim();
        match name.as_str() {
            "" => None,
            prefix if PREFIXES.contains(&prefix) => Instruction::read(rest),
            _ => Some(Instruction {
                name,
                operands: operands(rest),
            }),
        }
    }

    fn is_encoded(&self) -> bool {
        ENCODED.contains(&self.name.as_str())
    }

    fn accesses_memory(&self, has_operand_in_memory: bool) -> bool {
        let name = self.name.as_str();
        let is = |known: &[&str]| known.iter().any(|prefix| name.starts_with(prefix));
        if is(&UNKNOWN) && name != "int3" {
            return true;
        }
        if name.starts_with('.') || is(&HARMLESS) {
            return false;
        }
        if self.operands.is_empty() {
            return is(&STRINGS);
        }
        let is_jump = name.starts_with('j') || name.starts_with("loop");
        has_operand_in_memory
            || self
                .operands
                .iter()
                .any(|operand| is_address(operand) || (!is_jump && is_symbol(operand)))
    }
}

/// Returns the operands of an instruction. A reference to a named operand (`%[name]`) becomes `%0`,
/// or `%a0` if it is an address (`%a[name]`).
fn operands(text: &str) -> Vec<String> {
    let mut plain = String::new();
    let mut rest = text;
    while let Some((before, reference)) = rest.split_once('%') {
        plain.push_str(before);
        plain.push('%');
        let letters = reference.trim_start_matches(|letter: char| letter.is_ascii_alphabetic());
        rest = match letters
            .strip_prefix('[')
            .and_then(|rest| rest.split_once(']'))
        {
            Some((_, after)) if reference.len() - letters.len() <= 1 => {
                // `%a[name]` is an address.
                plain.push_str(if reference.starts_with('a') {
                    "a0"
                } else {
                    "0"
                });
                after
            }
            Some(_) | None => reference,
        };
    }
    plain.push_str(rest);
    let operands = plain.split(',').map(str::trim);
    let operands = operands.filter(|operand| !operand.is_empty());
    operands.map(str::to_owned).collect()
}

/// Checks whether an operand is in memory, other than memory that the stack pointer addresses.
fn is_address(operand: &str) -> bool {
    let is_modified = operand.strip_prefix("%a");
    if is_modified.is_some_and(|rest| rest.starts_with(|letter: char| letter.is_ascii_digit())) {
        return true;
    }
    let inside = operand.split_once(['(', '[']).map(|(_, inside)| inside);
    inside.is_some_and(|inside| {
        let register = inside.trim_start_matches('%');
        !["rsp", "esp", "sp"]
            .iter()
            .any(|prefix| register.starts_with(prefix))
    })
}

/// Checks whether an operand is the name of a variable.
fn is_symbol(operand: &str) -> bool {
    let is_name = |letter: char| letter.is_ascii_alphanumeric() || "_.+-".contains(letter);
    operand.starts_with(|letter: char| letter.is_ascii_alphabetic() || letter == '_')
        && operand.chars().all(is_name)
        && !is_register(operand)
}

/// Checks whether an operand is a register without a percent sign, as in Intel's syntax and on
/// other processors.
fn is_register(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    let digits = name.trim_start_matches(|letter: char| letter.is_ascii_alphabetic());
    let is_numbered = !digits.is_empty()
        && digits
            .trim_end_matches(['d', 'w', 'b'])
            .chars()
            .all(|digit| digit.is_ascii_digit());
    let letters = name.trim_start_matches(['r', 'e']);
    let is_named = [
        "ax", "bx", "cx", "dx", "si", "di", "bp", "sp", "al", "ah", "bl", "bh", "cl", "ch", "dl",
        "dh",
    ];
    is_numbered || is_named.contains(&letters)
}

/// Skips spaces and line markers.
fn skip_space(text: &str) -> &str {
    let mut rest = text.trim_start();
    while rest.starts_with("# ") {
        let end = rest.find('\n').unwrap_or(rest.len());
        rest = rest[end..].trim_start();
    }
    rest
}

/// Returns the content of a string after its opening quote, and the text after the string. Returns
/// `None` if the closing quote is missing.
fn string(text: &str) -> Option<(String, &str)> {
    let mut content = String::new();
    let mut letters = text.char_indices();
    loop {
        match letters.next()? {
            (at, '"') => return Some((content, &text[at + 1..])),
            (_, '\\') => content.push(match letters.next()?.1 {
                'n' => '\n',
                't' => ' ',
                other => other,
            }),
            (_, other) => content.push(other),
        }
    }
}

/// Returns the text after a character whose opening quote is already read.
fn character(text: &str) -> Option<&str> {
    let mut letters = text.char_indices();
    loop {
        match letters.next()? {
            (at, '\'') => return Some(&text[at + 1..]),
            (_, '\\') => _ = letters.next()?,
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn accesses(statement: &str) -> bool {
        let source = format!("# 7 \"a.c\"\nvoid f(void) {{\n\t{statement}\n}}\n");
        let places = places(&source);
        assert!(places.iter().all(|place| place == "a.c:8"), "{places:?}");
        !places.is_empty()
    }

    #[test]
    fn assembly_that_accesses_memory_is_found() {
        for statement in [
            r#"__asm__ volatile("movl %1, %0" : "=r"(r) : "m"(*p) : "memory");"#,
            r#"asm volatile("movl %1, (%0)" : : "r"(p), "r"(v) : "memory");"#,
            r#"asm("mov %[v], %[to]" : [to] "=m"(*p) : [v] "r"(v));"#,
            r#"__asm __volatile__("lock; xaddl %0, (%1)" : "+r"(v) : "r"(p));"#,
            r#"__asm__ __volatile__ ("lock\n\tincl %0" : "+m" (*p));"#,
            r#"asm goto("1: cmpl $0, (%0)\n jne %l1" : : "r"(p) : : out);"#,
            r#"asm("incl counter");"#,
            r#"asm("incl counter+4(%rip)");"#,
            r#"asm volatile("rep stosb" : "+D"(p), "+c"(n) : "a"(0) : "memory");"#,
            r#"asm volatile("syscall" : "=a"(r) : "a"(202) : "rcx", "r11", "memory");"#,
            r#"asm volatile(".byte 0x0f, 0x38" : : "r"(p) : "memory");"#,
            r#"asm volatile("ldr %w0, [%1]" : "=r"(r) : "r"(p));"#,
            r#"asm volatile("movl %1, %0" : "=r"(r) : "m"(a[(':' == c) ? 1 : 0]));"#,
            r#"asm volatile("prefetcht0 %0; movl %0, %%eax" : : "m"(*p) : "eax");"#,
            r#"asm volatile("movq %a1, %0" : "=r"(r) : "p"(&x));"#,
        ] {
            assert!(accesses(statement), "{statement}");
        }
    }

    #[test]
    fn assembly_that_accesses_no_memory_is_left_alone() {
        for statement in [
            r#"__asm__ volatile("" ::: "memory");"#,
            r#"asm volatile("" : "+m"(x) : : "memory");"#,
            r#"asm volatile("pause" ::: "memory");"#,
            r#"asm volatile("rep; nop" ::: "memory");"#,
            r#"asm volatile("mfence" : : "m"(x) : "memory");"#,
            r#"asm volatile("lock; addl $0,0(%%rsp)" ::: "memory", "cc");"#,
            r#"asm volatile("cpuid" : "=a"(a), "=b"(b), "=c"(c), "=d"(d) : "a"(0));"#,
            r#"asm("rorw $8, %w0" : "=r"(v) : "0"(x) : "cc");"#,
            r#"asm("xchgl %0, %1" : "+r"(one), "+r"(other));"#,
            r#"asm("addl %1, %0" : "+r"(one) : "rm"(other));"#,
            r#"asm("mov %[v], %[to]" : [to] "=r"(t) : [v] "r"(v));"#,
            r#"asm volatile("movq %%fs:0, %0" : "=r"(self));"#,
            r##"asm volatile("# only a comment (%0)" : : "r"(p) : "memory");"##,
            r#"asm("mov eax, ebx");"#,
            r#"asm("jmp out");"#,
            r#"extern int f(void) __asm__("" "__isoc99_f");"#,
            r#"register long r __asm__("r10") = 1;"#,
            r#"__asm__(".symver f, f@V1");"#,
            r#"int asm_count = plasm(1), gasm = asmx("incl n");"#,
            r#"puts("asm(\"incl counter\")");"#,
        ] {
            assert!(!accesses(statement), "{statement}");
        }
    }

    #[test]
    fn places_follow_line_markers_inside_of_statements() {
        let source = "# 1 \"a.c\"\n\n# 5 \"b.h\" 1\nint b;\n# 2 \"a.c\" 2\n\nint f(int *p) { asm(\n# 4 \"a.c\"\n\"incl %0\" : \"+m\"(*p)); }";
        assert_eq!(places(source), ["a.c:3".to_owned()].into());
    }
}
