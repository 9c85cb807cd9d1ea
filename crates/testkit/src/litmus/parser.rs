//! Reads litmus tests.

use super::Litmus;
use super::formula::Formula;
use super::words::{NotALitmusTest, Words, unexpected};
use crate::program::{Action, Condition, Program, REGISTERS, Register, Statement, Value, Verb};
use explore::MemoryOrder;
use std::str::FromStr;

impl FromStr for Litmus {
    type Err = NotALitmusTest;

    fn from_str(text: &str) -> Result<Litmus, NotALitmusTest> {
        let first = text.lines().next().unwrap_or_default();
        let name = first.strip_prefix("C ").map(str::trim);
        let name = name.ok_or_else(|| unexpected(1, "C and a name", first))?;
        let mut lines = text.split_inclusive('\n').enumerate();
        let (before, _) = lines
            .find(|(_, line)| line.starts_with('{'))
            .ok_or_else(|| unexpected(text.lines().count(), "{", ""))?;
        let above: usize = text.split_inclusive('\n').take(before).map(str::len).sum();
        let mut parser = Parser {
            words: Words::new(&text[above..], before + 1),
            variables: Vec::new(),
            locals: Vec::new(),
        };
        parser.test(name)
    }
}

struct Parser<'a> {
    words: Words<'a>,
    /// The names of the variables.
    variables: Vec<&'a str>,
    /// The names of the registers of each thread.
    locals: Vec<Vec<&'a str>>,
}

/// The name of the register for the expected value of a compare-exchange. Not a name in C.
const EXPECTED: &str = "expected value";

const ORDERS: [(&str, MemoryOrder); 5] = [
    ("memory_order_relaxed", MemoryOrder::Relaxed),
    ("memory_order_acquire", MemoryOrder::Acquire),
    ("memory_order_release", MemoryOrder::Release),
    ("memory_order_acq_rel", MemoryOrder::AcqRel),
    ("memory_order_seq_cst", MemoryOrder::SeqCst),
];

impl<'a> Parser<'a> {
    fn test(&mut self, name: &str) -> Result<Litmus, NotALitmusTest> {
        self.declarations(["{", ";", "}"])?;
        let mut program = Program::default();
        while self.words.takes(&format!("P{}", program.threads.len())) {
            self.declarations(["(", ",", ")"])?;
            self.locals.push(Vec::new());
            program.threads.push(self.block()?);
        }
        let is_negated = self.words.takes("~");
        let is_wanted = self.words.takes("exists");
        if !is_wanted && (is_negated || !self.words.takes("forall")) {
            let thread = program.threads.len();
            let expected = format!("P{thread}, exists, ~exists or forall");
            return self.words.refuse(&expected);
        }
        let formula = self.formula()?;
        self.words.expect("")?;
        Ok(Litmus {
            name: name.to_owned(),
            program,
            formula,
            is_wanted,
        })
    }

    /// Reads the init block or the parameters of a thread: names, perhaps with a type and the value
    /// 0.
    fn declarations(&mut self, [begin, separator, end]: [&str; 3]) -> Result<(), NotALitmusTest> {
        self.words.expect(begin)?;
        while !self.words.takes(end) {
            let name = self.declared()?;
            number(&mut self.variables, name);
            if self.words.takes("=") {
                self.words.expect("0")?;
            }
            if self.words.peek() != end {
                self.words.expect(separator)?;
            }
        }
        Ok(())
    }

    /// Reads a declaration, for instance `atomic_int* x`, `[x]` or `x`. Returns the name.
    fn declared(&mut self) -> Result<&'a str, NotALitmusTest> {
        let is_bracketed = self.words.takes("[");
        let mut name = self.words.name("a variable")?;
        if is_bracketed {
            self.words.expect("]")?;
            return Ok(name);
        }
        while !["=", ";", ",", ")", "}"].contains(&self.words.peek()) {
            self.words.takes("*");
            name = self.words.name("a variable")?;
        }
        Ok(name)
    }

    fn block(&mut self) -> Result<Vec<Statement>, NotALitmusTest> {
        let mut body = Vec::new();
        self.words.expect("{")?;
        while !self.words.takes("}") {
            self.statement(&mut body)?;
        }
        Ok(body)
    }

    fn statement(&mut self, body: &mut Vec<Statement>) -> Result<(), NotALitmusTest> {
        if self.words.takes("if") {
            self.words.expect("(")?;
            let condition = self.condition()?;
            self.words.expect(")")?;
            body.push(Statement::If(condition, self.block()?));
            return Ok(());
        }
        let is_declaration = self.words.takes("int");
        let name = self.words.name("a statement")?;
        if is_declaration && self.words.takes(";") {
            return self.register(name).map(|_| ());
        }
        if !is_declaration && self.words.peek() == "(" {
            self.call(name, None, body)?;
            return self.words.expect(";");
        }
        self.words.expect("=")?;
        let into = self.register(name)?;
        match self.words.peek().starts_with("atomic_") {
            true => {
                let function = self.words.take();
                self.call(function, Some(into), body)?;
            }
            false => {
                let value = self.value()?;
                body.push(set(into, value));
            }
        }
        self.words.expect(";")
    }

    fn condition(&mut self) -> Result<Condition, NotALitmusTest> {
        let left = self.value()?;
        let (equal, right) = match self.words.peek() {
            ")" => (false, Value::Constant(0)),
            "==" | "!=" => (self.words.take() == "==", self.value()?),
            _ => return self.words.refuse("==, != or )"),
        };
        Ok(Condition { left, equal, right })
    }

    /// Reads the arguments of a function, and adds the action of the call to `body`.
    fn call(
        &mut self,
        function: &str,
        into: Option<Register>,
        body: &mut Vec<Statement>,
    ) -> Result<(), NotALitmusTest> {
        let name = function.strip_prefix("atomic_").unwrap_or_default();
        let is_explicit = name.ends_with("_explicit") || name == "thread_fence";
        let verb = match name.strip_suffix("_explicit").unwrap_or(name) {
            "load" if into.is_some() => Verb::Load,
            "store" if into.is_none() => Verb::Store,
            "exchange" => Verb::Swap,
            "fetch_add" => Verb::FetchAdd,
            "compare_exchange_strong" => Verb::CompareExchange,
            "thread_fence" if into.is_none() => Verb::Fence,
            _ => return self.words.refuse("the arguments of another function"),
        };
        let mut action = Action {
            verb,
            into,
            objects: Vec::new(),
            values: Vec::new(),
            order: MemoryOrder::SeqCst,
            on_failure: MemoryOrder::SeqCst,
        };
        self.words.expect("(")?;
        if verb != Verb::Fence {
            let variables = &self.variables;
            let position = |word| variables.iter().position(|&own| own == word);
            action.objects = vec![self.words.read("a variable", position)?];
        }
        for _ in 0..verb.signature().values {
            self.words.expect(",")?;
            let is_expected = verb == Verb::CompareExchange && action.values.is_empty();
            action.values.push(match is_expected {
                true => self.expected_value()?,
                false => self.value()?,
            });
        }
        if is_explicit {
            if verb != Verb::Fence {
                self.words.expect(",")?;
            }
            action.order = self.order()?;
            action.on_failure = action.order;
        }
        if is_explicit && verb == Verb::CompareExchange {
            self.words.expect(",")?;
            action.on_failure = self.order()?;
        }
        self.words.expect(")")?;
        match action.values.first() {
            Some(&Value::Register(expected)) if verb == Verb::CompareExchange => {
                self.compare_exchange(action, expected, body)?;
            }
            _ => body.push(Statement::Do(action)),
        }
        Ok(())
    }

    /// Adds a compare-exchange. The result of the abstract action is the old value, and C writes
    /// this value to the variable with the expected value. The result in C is whether the two
    /// values were equal.
    fn compare_exchange(
        &mut self,
        mut action: Action,
        expected: Register,
        body: &mut Vec<Statement>,
    ) -> Result<(), NotALitmusTest> {
        let into = action.into.replace(expected);
        let before = self.register(EXPECTED)?;
        body.push(set(before, Value::Register(expected)));
        body.push(Statement::Do(action));
        if let Some(into) = into {
            let is_equal = Condition {
                left: Value::Register(expected),
                equal: true,
                right: Value::Register(before),
            };
            body.push(set(into, Value::Constant(0)));
            body.push(Statement::If(is_equal, vec![set(into, Value::Constant(1))]));
        }
        Ok(())
    }

    fn order(&mut self) -> Result<MemoryOrder, NotALitmusTest> {
        let order = |word: &str| ORDERS.iter().find(|(name, _)| *name == word);
        let (_, order) = self.words.read("a memory order", order)?;
        Ok(*order)
    }

    /// Reads the address of a register.
    fn expected_value(&mut self) -> Result<Value, NotALitmusTest> {
        self.words.expect("&")?;
        match self.words.peek().parse::<u64>() {
            Ok(_) => self.words.refuse("a register"),
            Err(_) => self.value(),
        }
    }

    fn value(&mut self) -> Result<Value, NotALitmusTest> {
        let locals = self.locals.last().expect("values are in threads");
        let register = |word: &str| locals.iter().position(|&own| own == word);
        self.words.read("a number or a register", |word| {
            let constant = word.parse().ok().map(Value::Constant);
            constant.or_else(|| Some(Value::Register(register(word)? as Register)))
        })
    }

    fn register(&mut self, name: &'a str) -> Result<Register, NotALitmusTest> {
        let locals = self.locals.last_mut().expect("registers are in threads");
        let register = number(locals, name);
        match register < REGISTERS {
            true => Ok(register as Register),
            false => self.words.refuse(&format!("at most {REGISTERS} registers")),
        }
    }

    fn formula(&mut self) -> Result<Formula, NotALitmusTest> {
        let mut formula = self.conjunction()?;
        while self.words.takes("\\/") {
            formula = Formula::Or(Box::new(formula), Box::new(self.conjunction()?));
        }
        Ok(formula)
    }

    fn conjunction(&mut self) -> Result<Formula, NotALitmusTest> {
        let mut formula = self.literal()?;
        while self.words.takes("/\\") {
            formula = Formula::And(Box::new(formula), Box::new(self.literal()?));
        }
        Ok(formula)
    }

    fn literal(&mut self) -> Result<Formula, NotALitmusTest> {
        if self.words.takes("~") {
            return Ok(Formula::Not(Box::new(self.literal()?)));
        }
        if self.words.takes("(") {
            let formula = self.formula()?;
            self.words.expect(")")?;
            return Ok(formula);
        }
        let locals = &self.locals;
        let is_there = |thread: &usize| *thread < locals.len();
        let thread = |word: &str| word.parse().ok().filter(is_there);
        if let Some(thread) = thread(self.words.peek()) {
            self.words.take();
            self.words.expect(":")?;
            let register = |word: &str| locals[thread].iter().position(|&own| own == word);
            let register = self.words.read("a register of the thread", register)?;
            return Ok(Formula::Register(thread, register, self.final_value()?));
        }
        let is_bracketed = self.words.takes("[");
        let variable = |word: &str| self.variables.iter().position(|&own| own == word);
        let variable = self.words.read("a variable or a thread", variable)?;
        if is_bracketed {
            self.words.expect("]")?;
        }
        Ok(Formula::Variable(variable, self.final_value()?))
    }

    fn final_value(&mut self) -> Result<u64, NotALitmusTest> {
        self.words.expect("=")?;
        self.words.read("a number", |word| word.parse().ok())
    }
}

/// Returns the position of a name, which is added if it is new.
fn number<'a>(names: &mut Vec<&'a str>, name: &'a str) -> usize {
    let position = names.iter().position(|&own| own == name);
    position.unwrap_or_else(|| {
        names.push(name);
        names.len() - 1
    })
}

fn set(into: Register, value: Value) -> Statement {
    Statement::Do(Action {
        verb: Verb::Let,
        into: Some(into),
        objects: Vec::new(),
        values: vec![value],
        order: MemoryOrder::SeqCst,
        on_failure: MemoryOrder::SeqCst,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEST: &str = "C CAS+if
This line is a comment.
{ x=0; [y]=0; int z; }
P0 (atomic_int* x, atomic_int* y) {
  int e = 1; // the expected value
  int r0 = atomic_compare_exchange_strong_explicit(x, &e, 2, memory_order_acq_rel, memory_order_relaxed);
  if (r0) { atomic_store(y, e); }
}
P1 (atomic_int* x) { int r0 = atomic_load_explicit(x, memory_order_acquire); }
~exists (0:r0=0 /\\ ~[y]=1 \\/ (1:r0=2))";

    #[test]
    fn a_test_is_read() {
        let test: Litmus = TEST.parse().unwrap();
        assert_eq!(test.name, "CAS+if");
        let first = "r0 = let 1; r2 = let r0; r0 = cas.ar.rlx x0 r0 2; r1 = let 0; \
                     if r0 == r2 { r1 = let 1 }; if r1 != 0 { store x1 r0 }";
        let program = format!("{first}\nr0 = load.acq x0");
        assert_eq!(test.program.to_string(), program);
        let holds = |y, r0, other| {
            let registers = [vec![0, r0], vec![other]];
            test.formula.holds(&[0, y], &registers)
        };
        assert!(holds(0, 0, 0) && holds(1, 0, 2) && holds(1, 1, 2));
        assert!(!holds(1, 0, 0) && !holds(0, 1, 0));
    }

    #[test]
    fn a_mistake_is_named_with_its_line() {
        for (text, replacement, mistake) in [
            (
                "C CAS+if",
                "X86 SB",
                "line 1: expected C and a name, found \"X86 SB\"",
            ),
            ("{ x=0", "{ x=7", "line 3: expected 0, found \"7\""),
            (
                "int e = 1",
                "int e = f",
                "line 5: expected a number or a register, found \"f\"",
            ),
            (
                "P1",
                "P2",
                "line 9: expected P1, exists, ~exists or forall, found \"P2\"",
            ),
            (
                "acquire",
                "consume",
                "line 9: expected a memory order, found \"memory_order_consume\"",
            ),
            (
                "1:r0=2",
                "1:r1=2",
                "line 10: expected a register of the thread, found \"r1\"",
            ),
            ("1:r0=2)", "1:r0=2", "line 10: expected ), found \"\""),
        ] {
            let text = TEST.replace(text, replacement);
            assert_eq!(text.parse::<Litmus>().unwrap_err().to_string(), mistake);
        }
    }
}
