//! The global variables and functions of an image with their qualified names, read once per image.

use super::information::{Entry, EntryId, Information};
use super::location::{Found, evaluate};
use gimli::{AttributeValue, DwTag, constants};
use std::collections::BTreeMap;
use std::ops::Range;

/// A variable at a fixed place.
#[derive(Clone, Debug)]
pub struct Global {
    /// The address in the image, or the offset in the block of thread-local variables.
    pub address: u64,
    pub name: String,
    pub type_of: Option<EntryId>,
}

/// A function with code.
#[derive(Clone, Debug)]
pub struct Function {
    pub code: Range<u64>,
    pub entry: EntryId,
}

#[derive(Default)]
pub struct Table {
    /// Sorted by `address`.
    pub globals: Vec<Global>,
    /// Sorted by `address`.
    pub thread_locals: Vec<Global>,
    /// Sorted by the start of `code`.
    pub functions: Vec<Function>,
    /// Names qualified by namespaces, classes and functions, for entries that do not complete
    /// another entry.
    qualified: BTreeMap<EntryId, String>,
}

/// A scope that contains names.
struct Scope {
    depth: isize,
    /// The prefix of names in the scope: `queue::`.
    prefix: String,
    /// Whether the scope is the type of a lambda expression.
    is_lambda: bool,
}

impl Table {
    pub fn of(information: &Information) -> Table {
        let mut table = Table::default();
        let mut placed = Vec::new();
        // Two passes: an entry may come before the entry that it completes or inlines.
        for _ in 0..2 {
            placed.clear();
            table.functions.clear();
            for unit in 0..information.units.len() {
                table.read(information, unit, &mut placed);
            }
        }
        for (id, found) in placed {
            table.place(information, id, found);
        }
        table.globals.sort_by_key(|global| global.address);
        table.thread_locals.sort_by_key(|global| global.address);
        table.functions.sort_by_key(|function| function.code.start);
        table
    }

    /// Returns the function whose code contains an address.
    pub fn function(&self, address: u64) -> Option<&Function> {
        let after = self
            .functions
            .partition_point(|function| function.code.start <= address);
        // Parts of a function may lie within the range of another function that begins earlier.
        let before = self.functions[..after].iter().rev();
        before
            .take(8)
            .find(|function| function.code.contains(&address))
    }

    /// Returns the qualified name of a function, a type or a variable.
    pub fn name(&self, information: &Information, id: EntryId) -> Option<&String> {
        let entry = information.entry(id)?;
        let origin = first_origin(information, id.unit, &entry);
        self.qualified.get(&origin.unwrap_or(id))
    }

    /// Reads one unit, up to the first entry that cannot be read.
    fn read(&mut self, information: &Information, unit: usize, placed: &mut Vec<(EntryId, Found)>) {
        let mut scopes: Vec<Scope> = Vec::new();
        let mut cursor = information.units[unit].entries();
        while let Ok(Some(entry)) = cursor.next_dfs() {
            let offset = entry.offset();
            let id = EntryId { unit, offset };
            while scopes
                .last()
                .is_some_and(|scope| scope.depth >= entry.depth())
            {
                scopes.pop();
            }
            match entry.tag() {
                constants::DW_TAG_variable | constants::DW_TAG_member => {
                    self.qualify(information, id, entry, scopes.last());
                    placed.extend(place(information, unit, entry).map(|found| (id, found)));
                }
                tag if is_scope(tag) => {
                    let scope = self.enter(information, id, entry, scopes.last());
                    scopes.push(scope);
                    self.add_code(information, id, entry);
                }
                _ => {}
            }
        }
    }

    fn enter(
        &mut self,
        information: &Information,
        id: EntryId,
        entry: &Entry,
        outer: Option<&Scope>,
    ) -> Scope {
        let is_function = matches!(
            entry.tag(),
            constants::DW_TAG_subprogram | constants::DW_TAG_inlined_subroutine
        );
        let unqualified = information.own_name(id.unit, entry);
        let is_lambda = !is_function
            && entry.tag() != constants::DW_TAG_namespace
            && unqualified
                .as_ref()
                .is_none_or(|name| name.starts_with("<lambda"));
        let name = match is_lambda {
            true => None,
            false => self.qualify(information, id, entry, outer),
        };
        let outside = outer.map_or("", |scope| &scope.prefix);
        let prefix = name.map_or_else(|| outside.to_owned(), |name| format!("{name}::"));
        Scope {
            depth: entry.depth(),
            prefix,
            is_lambda,
        }
    }

    /// Records and returns the qualified name of an entry: the name of its origin, or its own name
    /// with the prefix of the scope.
    fn qualify(
        &mut self,
        information: &Information,
        id: EntryId,
        entry: &Entry,
        scope: Option<&Scope>,
    ) -> Option<String> {
        let origin = first_origin(information, id.unit, entry);
        let of_origin = origin.and_then(|origin| self.qualified.get(&origin).cloned());
        let name = of_origin.or_else(|| {
            let name = information.name(id.unit, entry)?;
            let prefix = scope.map_or("", |scope| &scope.prefix);
            let is_lambda = scope.is_some_and(|scope| scope.is_lambda) && name == "operator()";
            Some(match is_lambda {
                true => format!("{prefix}lambda"),
                false => format!("{prefix}{name}"),
            })
        })?;
        if origin.is_none() {
            self.qualified.insert(id, name.clone());
        }
        Some(name)
    }

    fn add_code(&mut self, information: &Information, id: EntryId, entry: &Entry) {
        if entry.tag() != constants::DW_TAG_subprogram {
            return;
        }
        let unit = information.unit(id);
        let Ok(mut ranges) = information.dwarf.die_ranges(unit, entry) else {
            return;
        };
        while let Ok(Some(range)) = ranges.next() {
            // The linker leaves 0 as the address of a function that it has dropped.
            if range.begin != 0 && range.begin < range.end {
                self.functions.push(Function {
                    code: range.begin..range.end,
                    entry: id,
                });
            }
        }
    }

    fn place(&mut self, information: &Information, id: EntryId, found: Found) {
        let Some(entry) = information.entry(id) else {
            return;
        };
        let Some(name) = self.name(information, id).cloned() else {
            return;
        };
        let global = |address| Global {
            address,
            name,
            type_of: information.type_of(id.unit, &entry),
        };
        match found {
            Found::Address(address) => self.globals.push(global(address)),
            Found::ThreadLocal(offset) => self.thread_locals.push(global(offset)),
            Found::Value(_) => {}
        }
    }
}

/// Returns the entry at the end of the chain of completed entries: a declaration that does not
/// complete another entry. Returns `None` if `entry` completes no other entry.
fn first_origin(information: &Information, unit: usize, entry: &Entry) -> Option<EntryId> {
    let mut first = information.origin(unit, entry)?;
    // The chain: an inlined function, its abstract form, its declaration in a class.
    for _ in 0..3 {
        let entry = information.entry(first)?;
        match information.origin(first.unit, &entry) {
            Some(origin) => first = origin,
            None => break,
        }
    }
    Some(first)
}

/// Returns the fixed place of a variable, or `None` for local variables.
fn place(information: &Information, unit: usize, entry: &Entry) -> Option<Found> {
    let AttributeValue::Exprloc(expression) = entry.attr_value(constants::DW_AT_location)? else {
        return None;
    };
    let found = evaluate(information, &information.units[unit], expression, None);
    // The linker leaves 0 as the address of a variable that it has dropped.
    found.filter(|found| *found != Found::Address(0))
}

fn is_scope(tag: DwTag) -> bool {
    matches!(
        tag,
        constants::DW_TAG_namespace
            | constants::DW_TAG_class_type
            | constants::DW_TAG_structure_type
            | constants::DW_TAG_union_type
            | constants::DW_TAG_subprogram
            | constants::DW_TAG_inlined_subroutine
    )
}
