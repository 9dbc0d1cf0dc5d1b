//! Rules are used once on whatever they match, as long as there is work to spend.

use super::{
    analysis::{Graph, Meaning},
    budget::MATCH,
    language::Term,
    mix::Mixed,
};
use egg::{Id, Rewrite, RewriteScheduler, SearchMatches, Symbol};
use std::{
    cell::{Cell, RefCell},
    collections::{HashMap, HashSet},
    rc::Rc,
};

/// Leaves out matches that a rule was used on before.
///
/// What a rule makes of a match depends on what the match's classes are known to be and on nothing
/// else, and that, once known, stays: using it again would find all of it there. A match with a
/// class that is not known yet is tried in every round.
#[derive(Clone, Default)]
pub(super) struct Once {
    used: Rc<RefCell<HashMap<Symbol, Seen>>>,
    /// Whether something was left out that there was no work for.
    pub cut: Rc<Cell<bool>>,
}

/// A match's class and what its variables stand for, of which no rule has more.
type Match = [Id; 8];
type Seen = HashSet<Match, Mixed>;

impl RewriteScheduler<Term, Meaning> for Once {
    fn search_rewrite<'a>(
        &mut self,
        _: usize,
        graph: &Graph,
        rewrite: &'a Rewrite<Term, Meaning>,
    ) -> Vec<SearchMatches<'a, Term>> {
        let work = &graph.analysis.domain.work;
        if work.is_over() {
            self.cut.set(true);
            return Vec::new();
        }
        let variables = rewrite.searcher.vars();
        let mut used = self.used.borrow_mut();
        let used = used.entry(rewrite.name).or_default();
        let mut found = rewrite.search(graph);
        for matches in &mut found {
            work.spend(MATCH * matches.substs.len() as u64);
            let class = matches.eclass;
            matches.substs.retain(|subst| {
                let mut key: Match = [class; 8];
                if variables.len() >= key.len() {
                    return true;
                }
                for (part, variable) in key.iter_mut().zip(&variables) {
                    *part = subst[*variable];
                }
                let mut parts = key.iter().take(variables.len());
                let known = parts.all(|part| graph[*part].data.is_known());
                !known || used.insert(key)
            });
        }
        found.retain(|matches| !matches.substs.is_empty());
        found
    }

    fn apply_rewrite(
        &mut self,
        _: usize,
        graph: &mut Graph,
        rewrite: &Rewrite<Term, Meaning>,
        found: Vec<SearchMatches<'_, Term>>,
    ) -> usize {
        let work = Rc::clone(&graph.analysis.domain.work);
        let mut applied = 0;
        for matches in &found {
            if work.is_over() {
                self.cut.set(true);
                break;
            }
            applied += rewrite.apply(graph, std::slice::from_ref(matches)).len();
        }
        applied
    }
}
