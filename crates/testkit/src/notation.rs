//! Programs as text: one line per thread, statements separated by `;`.
//!
//! ```text
//! s0=1 b0=3 q0=2
//! r0 = cas x0 0 1; if r0 == 0 { lock m0; store x1 r0; unlock m0 }
//! repeat 2 { r1 = load x1 }; assume r1 != 0; spawn t2
//! join t0
//! ```
//!
//! The optional first line gives permits of semaphores, places of barriers and capacities of
//! channels (`inf`: unbounded). A `|` ends a thread like the end of a line.

use crate::program::{
    Action, Condition, Program, REGISTERS, Register, Sort, Statement, Value, signatures,
};
use explore::MemoryOrder;
use std::fmt;
use std::str::FromStr;

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Constant(value) => write!(f, "{value}"),
            Value::Register(register) => write!(f, "r{register}"),
        }
    }
}

impl fmt::Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let relation = if self.equal { "==" } else { "!=" };
        write!(f, "{} {relation} {}", self.left, self.right)
    }
}

/// The orderings that a program can name.
const ORDERS: [(&str, MemoryOrder); 5] = [
    ("rlx", MemoryOrder::Relaxed),
    ("acq", MemoryOrder::Acquire),
    ("rel", MemoryOrder::Release),
    ("ar", MemoryOrder::AcqRel),
    ("sc", MemoryOrder::SeqCst),
];

fn order(name: &str) -> Option<MemoryOrder> {
    let found = ORDERS.iter().find(|(own, _)| *own == name);
    found.map(|&(_, order)| order)
}

fn order_name(order: MemoryOrder) -> &'static str {
    let found = ORDERS.iter().find(|&&(_, own)| own == order);
    found.expect("actions have the orderings of C").0
}

impl fmt::Display for Action {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let signature = self.verb.signature();
        if let Some(register) = self.into {
            write!(f, "r{register} = ")?;
        }
        f.write_str(signature.name)?;
        if (self.order, self.on_failure) != (MemoryOrder::SeqCst, MemoryOrder::SeqCst) {
            write!(f, ".{}", order_name(self.order))?;
        }
        if self.on_failure != self.order {
            write!(f, ".{}", order_name(self.on_failure))?;
        }
        for (sort, object) in signature.sorts.iter().zip(&self.objects) {
            write!(f, " {}{object}", sort.letter())?;
        }
        self.values
            .iter()
            .try_for_each(|value| write!(f, " {value}"))
    }
}

impl fmt::Display for Statement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Statement::Do(action) => write!(f, "{action}"),
            Statement::Assume(condition) => write!(f, "assume {condition}"),
            Statement::Assert(condition) => write!(f, "assert {condition}"),
            Statement::If(condition, body) => write!(f, "if {condition} {{ {} }}", Body(body)),
            Statement::Repeat(times, body) => write!(f, "repeat {times} {{ {} }}", Body(body)),
        }
    }
}

struct Body<'a>(&'a [Statement]);

impl fmt::Display for Body<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, statement) in self.0.iter().enumerate() {
            let separator = if index == 0 { "" } else { "; " };
            write!(f, "{separator}{statement}")?;
        }
        Ok(())
    }
}

impl fmt::Display for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut parameters = Vec::new();
        let numbers = |values: &[usize]| values.iter().map(usize::to_string).collect::<Vec<_>>();
        let capacities: Vec<String> = self
            .capacities
            .iter()
            .map(|capacity| capacity.map_or("inf".to_owned(), |bound| bound.to_string()))
            .collect();
        for (letter, values) in [
            ('s', numbers(&self.permits)),
            ('b', numbers(&self.places)),
            ('q', capacities),
        ] {
            parameters.extend(
                values
                    .iter()
                    .enumerate()
                    .map(|(n, value)| format!("{letter}{n}={value}")),
            );
        }
        if !parameters.is_empty() {
            writeln!(f, "{}", parameters.join(" "))?;
        }
        for (index, body) in self.threads.iter().enumerate() {
            let separator = if index == 0 { "" } else { "\n" };
            let body = if body.is_empty() {
                "-".to_owned()
            } else {
                Body(body).to_string()
            };
            write!(f, "{separator}{body}")?;
        }
        Ok(())
    }
}

/// The error for a text that is not a program.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("expected {expected}, found {found:?}")]
pub struct NotAProgram {
    expected: String,
    found: String,
}

impl FromStr for Program {
    type Err = NotAProgram;

    fn from_str(text: &str) -> Result<Program, NotAProgram> {
        let mut program = Program::default();
        let lines = text
            .split(['\n', '|'])
            .map(str::trim)
            .filter(|line| !line.is_empty());
        for (number, line) in lines.enumerate() {
            if number == 0 && is_header(line) {
                line.split_whitespace()
                    .try_for_each(|word| parameter(&mut program, word))?;
            } else {
                program.threads.push(thread(line)?);
            }
        }
        Ok(program)
    }
}

fn is_header(line: &str) -> bool {
    line.split_whitespace()
        .all(|word| word.len() > 1 && word.contains('='))
}

fn parameter(program: &mut Program, word: &str) -> Result<(), NotAProgram> {
    let (name, value) = word
        .split_once('=')
        .ok_or_else(|| unexpected("a parameter", word))?;
    let number = || value.parse().map_err(|_| unexpected("a number", value));
    match name.chars().next() {
        Some('s') => program.permits.push(number()?),
        Some('b') => program.places.push(number()?),
        Some('q') if value == "inf" => program.capacities.push(None),
        Some('q') => program.capacities.push(Some(number()?)),
        Some(_) | None => return Err(unexpected("s, b or q", name)),
    }
    Ok(())
}

fn thread(line: &str) -> Result<Vec<Statement>, NotAProgram> {
    if line == "-" {
        return Ok(Vec::new());
    }
    let spaced = line
        .replace(';', " ; ")
        .replace('{', " { ")
        .replace('}', " } ");
    let mut words = Words {
        words: spaced.split_whitespace().collect(),
        next: 0,
    };
    let body = words.body()?;
    match words.peek() {
        None => Ok(body),
        Some(word) => Err(unexpected("the end of the line", word)),
    }
}

fn unexpected(expected: &str, found: &str) -> NotAProgram {
    NotAProgram {
        expected: expected.to_owned(),
        found: found.to_owned(),
    }
}

/// The words of a line, read from left to right.
struct Words<'a> {
    words: Vec<&'a str>,
    next: usize,
}

impl<'a> Words<'a> {
    fn peek(&self) -> Option<&'a str> {
        self.words.get(self.next).copied()
    }

    fn take(&mut self) -> &'a str {
        self.next += 1;
        self.words.get(self.next - 1).copied().unwrap_or("")
    }

    fn expect(&mut self, word: &str) -> Result<(), NotAProgram> {
        match self.take() {
            found if found == word => Ok(()),
            found => Err(unexpected(word, found)),
        }
    }

    fn body(&mut self) -> Result<Vec<Statement>, NotAProgram> {
        let mut statements = vec![self.statement()?];
        while self.peek() == Some(";") {
            self.take();
            statements.push(self.statement()?);
        }
        Ok(statements)
    }

    fn block(&mut self) -> Result<Vec<Statement>, NotAProgram> {
        self.expect("{")?;
        let body = self.body()?;
        self.expect("}")?;
        Ok(body)
    }

    fn statement(&mut self) -> Result<Statement, NotAProgram> {
        match self.take() {
            "assume" => Ok(Statement::Assume(self.condition()?)),
            "assert" => Ok(Statement::Assert(self.condition()?)),
            "if" => Ok(Statement::If(self.condition()?, self.block()?)),
            "repeat" => {
                let word = self.take();
                let times = word.parse().map_err(|_| unexpected("a number", word))?;
                Ok(Statement::Repeat(times, self.block()?))
            }
            word => self.action(word).map(Statement::Do),
        }
    }

    fn condition(&mut self) -> Result<Condition, NotAProgram> {
        let left = self.value()?;
        let equal = match self.take() {
            "==" => true,
            "!=" => false,
            word => return Err(unexpected("== or !=", word)),
        };
        Ok(Condition {
            left,
            equal,
            right: self.value()?,
        })
    }

    fn action(&mut self, first: &str) -> Result<Action, NotAProgram> {
        let (into, name) = match register(first) {
            Some(register) => {
                self.expect("=")?;
                (Some(register), self.take())
            }
            None => (None, first),
        };
        let mut words = name.split('.');
        let name = words.next().unwrap_or_default();
        let signature = signatures()
            .find(|signature| signature.name == name)
            .ok_or_else(|| unexpected("a statement", name))?;
        let orders = words
            .map(|word| order(word).ok_or_else(|| unexpected("an ordering", word)))
            .collect::<Result<Vec<MemoryOrder>, _>>()?;
        if into.is_some() && !signature.has_result {
            return Err(unexpected("something with a result", name));
        }
        let objects = signature
            .sorts
            .iter()
            .map(|&sort| self.object(sort))
            .collect::<Result<_, _>>()?;
        let values = (0..signature.values)
            .map(|_| self.value())
            .collect::<Result<_, _>>()?;
        let order = orders.first().copied().unwrap_or_default();
        let on_failure = orders.get(1).copied().unwrap_or(order);
        Ok(Action {
            verb: signature.verb,
            into,
            objects,
            values,
            order,
            on_failure,
        })
    }

    fn object(&mut self, sort: Sort) -> Result<usize, NotAProgram> {
        let word = self.take();
        word.strip_prefix(sort.letter())
            .and_then(|number| number.parse().ok())
            .ok_or_else(|| unexpected(&format!("a name with {}", sort.letter()), word))
    }

    fn value(&mut self) -> Result<Value, NotAProgram> {
        let word = self.take();
        match register(word) {
            Some(register) => Ok(Value::Register(register)),
            None => word
                .parse()
                .map(Value::Constant)
                .map_err(|_| unexpected("a number or a register", word)),
        }
    }
}

fn register(word: &str) -> Option<Register> {
    let number: Register = word.strip_prefix('r')?.parse().ok()?;
    (usize::from(number) < REGISTERS).then_some(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_is_read_as_it_is_written() {
        let text = "s0=1 b0=3 q0=2 q1=inf\n\
                    r0 = cas x0 0 1; if r0 == 0 { lock m0; store x1 r0; unlock m0 }\n\
                    repeat 2 { r1 = load x1 }; assume r1 != 0; spawn t2\n\
                    join t0\n\
                    -";
        let program: Program = text.parse().expect("it is a program");
        assert_eq!(program.to_string(), text);
        assert_eq!(program.count(Sort::Variable), 2);
    }

    #[test]
    fn a_mistake_is_named() {
        let mistake = "store y0 1".parse::<Program>().expect_err("there is no y");
        assert_eq!(mistake.to_string(), "expected a name with x, found \"y0\"");
    }
}
