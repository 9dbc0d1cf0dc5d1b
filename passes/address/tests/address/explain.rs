//! Chains of rules.

use crate::tile::{Group, reads};
use tilefold_address::{AddressError, Chain, Limits, ScalarOperand, Space, Term, Variable, place};

fn chains(offsets: &[Term], space: &Space) -> Vec<Chain> {
    let placed = place(offsets, space, &Limits::default()).unwrap();
    (0..offsets.len())
        .map(|access| {
            let chain = placed.explain(access).unwrap_or_else(|error| {
                panic!("{error}: {:?} {:?}", offsets[access], placed.registers())
            });
            assert_eq!(chain.terms[0], offsets[access]);
            chain.check(&Limits::default()).unwrap();
            chain
        })
        .collect()
}

#[test]
fn every_access_has_a_chain_that_checks() {
    for placement in [
        "(96,64):(72,1)",
        "Sw<3,3,3> o 0 o (96,64):(64,1)",
        "Sw<3,3,5> o 0 o (96,64):(64,1)",
    ] {
        let group = Group::new(placement, &reads(96, 64, 2), 8, 2);
        let chains = chains(&group.offsets, &Space::lds());
        assert!(chains.iter().all(|chain| !chain.steps.is_empty()));
    }
}

#[test]
fn a_short_chain_reads_well() {
    let row = Term::variable(Variable::thread(8)) * 64;
    let offsets = [row.clone() ^ 8, row ^ 64];
    let chains = chains(&offsets, &Space::lds());
    let expected = "\
((thread * 64) ^ 8)
<- disjoint-add-is-xor: ((thread * 64) + 8)
-> mul-is-shl: ((thread << 6) + 8)";
    assert_eq!(chains[0].to_string(), expected);
}

#[test]
fn a_chain_that_was_tampered_with_is_refused() {
    let group = Group::new("Sw<3,3,3> o 0 o (64,64):(64,1)", &reads(64, 64, 1), 8, 2);
    let chain = chains(&group.offsets[5..6], &Space::lds()).remove(0);
    let check = |chain: &Chain| chain.check(&Limits::default());
    assert!(check(&chain).is_ok());
    let mut wrong = chain.clone();
    wrong.steps[0].rule = "add-zero".into();
    assert_eq!(
        check(&wrong).unwrap_err().why,
        "the parts are not the rule's sides"
    );
    let mut wrong = chain.clone();
    let last = wrong.terms.len() - 1;
    wrong.terms[last] = wrong.terms[last].clone() + 1;
    assert!(check(&wrong).is_err());
    let mut wrong = chain;
    wrong.terms.pop();
    assert!(check(&wrong).is_err());
}

#[test]
fn only_accesses_that_are_there_are_explained() {
    let placed = place(
        &[Term::variable(Variable::thread(8))],
        &Space::buffer(12, ScalarOperand::Uniform),
        &Limits::default(),
    )
    .unwrap();
    assert_eq!(placed.explain(1), Err(AddressError::Chain { access: 1 }));
}
