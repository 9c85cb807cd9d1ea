//! Tables that processes share.

mod outcomes;

use actors::{Delivery, Process, System, TableGone};
use mazurka::{Algorithm, Checker};
use outcomes::agreed;

fn system() -> System {
    System::new(Delivery::MailboxOrder)
}

#[test]
fn of_two_that_insert_a_new_key_one_succeeds() {
    let found = agreed(|notes| {
        let system = system();
        let table = system.table("locks");
        for name in ["ann", "ben"] {
            let (table, notes) = (table.clone(), notes.clone());
            system.spawn(name, move |_: &Process<()>| {
                if table.insert_new("lock", name).unwrap() {
                    notes.add(format!("{name}: {:?}", table.lookup(&"lock").unwrap()));
                }
            });
        }
    });
    let seen = [vec!["ann: Some(\"ann\")"], vec!["ben: Some(\"ben\")"]];
    assert_eq!(found.seen(), seen.into());
}

#[test]
fn counters_lose_no_update_but_look_and_insert_do() {
    let sums = |is_atomic: bool| {
        let found = agreed(move |notes| {
            let system = system();
            let table = system.table("hits");
            table.insert(1, 0).unwrap();
            let watched_notes = notes.clone();
            let watched = table.clone();
            system.spawn("watcher", move |me: &Process<()>| {
                for number in 0..2 {
                    let table = table.clone();
                    let name = format!("worker {number}");
                    me.spawn_monitor(
                        &name,
                        move |_: &Process<()>| match is_atomic {
                            true => drop(table.update_counter(&1, 1).unwrap()),
                            false => {
                                let hits = table.lookup(&1).unwrap().unwrap_or(0);
                                table.insert(1, hits + 1).unwrap();
                            }
                        },
                        |_| (),
                    );
                }
                me.receive();
                me.receive();
                watched_notes.add(format!("{:?}", watched.lookup(&1).unwrap()));
            });
        });
        found.seen().len()
    };
    assert_eq!((sums(true), sums(false)), (1, 2));
}

#[test]
fn operations_on_different_keys_are_independent_unless_the_table_is_scanned() {
    let traces = |is_scanned: bool| {
        let checker = Checker::new().algorithm(Algorithm::Optimal);
        let report = checker.check(move || {
            let system = system();
            let table = system.table("rows");
            for key in 0..3 {
                let table = table.clone();
                system.spawn(&format!("writer {key}"), move |_: &Process<()>| {
                    table.insert(key, key).unwrap();
                });
            }
            if is_scanned {
                table.scan().unwrap();
            }
        });
        report.executions
    };
    assert_eq!((traces(false), traces(true)), (1, 24));
}

#[test]
fn a_scan_sees_all_keys_in_order() {
    let found = agreed(|notes| {
        let table = system().table("rows");
        for key in ["b", "a", "c"] {
            table.insert(key, 1).unwrap();
        }
        assert_eq!(table.delete(&"c"), Ok(Some(1)));
        notes.add(format!("{:?}", table.scan().unwrap()));
    });
    assert_eq!(found.seen(), [vec![r#"[("a", 1), ("b", 1)]"#]].into());
}

#[test]
fn a_table_is_gone_when_its_owner_has_ended() {
    let found = agreed(|notes| {
        let system = system();
        let notes = notes.clone();
        system.spawn("owner", move |me: &Process<()>| {
            let table = me.table("rows");
            table.insert(1, 1).unwrap();
            let system = me.system();
            system.spawn("reader", move |_: &Process<()>| {
                notes.add(format!("{:?}", table.lookup(&1)));
            });
        });
    });
    let seen = [vec!["Err(TableGone)"], vec!["Ok(Some(1))"]];
    assert_eq!(found.seen(), seen.into());
}

#[test]
fn a_deleted_table_is_gone() {
    let found = agreed(|notes| {
        let table = system().table::<u32, u32>("rows");
        let results = [table.delete_table(), table.delete_table()];
        notes.add(format!("{results:?} {:?}", table.insert_new(1, 1)));
        assert_eq!(table.scan(), Err(TableGone));
    });
    let seen = [vec!["[Ok(()), Err(TableGone)] Err(TableGone)"]];
    assert_eq!(found.seen(), seen.into());
}
