//! Rules are used once on whatever they match.

use super::{
    analysis::{Graph, Meaning},
    language::Term,
};
use egg::{Id, Rewrite, RewriteScheduler, SearchMatches, Subst, Symbol};
use std::collections::{HashMap, HashSet};

/// Leaves out matches that a rule was used on before.
///
/// What a rule makes of a match depends on what the match's classes are known to be and on nothing
/// else, and that, once known, stays: using it again would find all of it there. A match with a
/// class that is not known yet is tried in every round.
#[derive(Default)]
pub(super) struct Once {
    used: HashMap<Symbol, HashSet<(Id, Subst)>>,
}

impl RewriteScheduler<Term, Meaning> for Once {
    fn search_rewrite<'a>(
        &mut self,
        _: usize,
        graph: &Graph,
        rewrite: &'a Rewrite<Term, Meaning>,
    ) -> Vec<SearchMatches<'a, Term>> {
        let variables = rewrite.searcher.vars();
        let used = self.used.entry(rewrite.name).or_default();
        let mut found = rewrite.search(graph);
        for matches in &mut found {
            let class = matches.eclass;
            matches.substs.retain(|subst| {
                let mut parts = variables.iter().map(|variable| subst[*variable]);
                let known = parts.all(|part| graph[part].data.is_known());
                !known || used.insert((class, subst.clone()))
            });
        }
        found.retain(|matches| !matches.substs.is_empty());
        found
    }
}
