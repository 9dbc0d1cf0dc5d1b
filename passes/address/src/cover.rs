//! The fewest registers that a group of accesses can share.
//!
//! What registers cost is no sum over accesses, so that no extraction from the e-graph can
//! minimise it. It is a cover: a register holds a base and a constant, and serves every access
//! that is the base plus a constant within the immediate's reach of the register's.

/// A register that could be: what it serves and what it costs.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Candidate<B> {
    /// The base.
    pub base: B,
    /// The constant that the register adds to it.
    pub start: i64,
    /// Accesses it serves, ascending.
    pub serves: Vec<usize>,
    /// Its cost.
    pub cost: u64,
}

/// All registers of one base that are worth trying. `constants` are those of the accesses that
/// can use it; `window` is the number of values of the immediate. A register starts at the
/// constant of an access: a window that starts elsewhere serves no more.
pub fn candidates<B: Copy>(
    base: B,
    cost: u64,
    constants: &[(usize, i64)],
    window: i64,
) -> Vec<Candidate<B>> {
    let mut starts: Vec<i64> = constants.iter().map(|(_, constant)| *constant).collect();
    starts.sort_unstable();
    starts.dedup();
    let candidate = |start: i64| {
        let reach = start..start.saturating_add(window);
        let served = constants
            .iter()
            .filter(|(_, constant)| reach.contains(constant));
        let mut serves: Vec<usize> = served.map(|(access, _)| *access).collect();
        serves.sort_unstable();
        serves.dedup();
        Candidate {
            base,
            start,
            serves,
            cost,
        }
    };
    let mut found: Vec<Candidate<B>> = Vec::new();
    for start in starts {
        let new = candidate(start);
        // A window that is a part of the one before it serves nothing new.
        if found
            .last()
            .is_none_or(|last| !is_subset(&new.serves, &last.serves))
        {
            found.push(new);
        }
    }
    found
}

fn is_subset(small: &[usize], large: &[usize]) -> bool {
    small.iter().all(|item| large.binary_search(item).is_ok())
}

/// Indices of candidates that together serve all of `accesses` accesses at the least cost; the
/// best found where `choices` of them were tried. Every access must be served by some candidate.
pub fn cover<B>(candidates: &[Candidate<B>], accesses: usize, choices: usize) -> Vec<usize> {
    let kept = undominated(candidates);
    let mut serving: Vec<Vec<usize>> = vec![Vec::new(); accesses];
    for index in &kept {
        for access in &candidates[*index].serves {
            serving[*access].push(*index);
        }
    }
    // The least that an access can add to the cost, in parts of a register's.
    let least: Vec<f64> = serving
        .iter()
        .map(|serving| {
            let share = |index: &usize| {
                candidates[*index].cost as f64 / candidates[*index].serves.len() as f64
            };
            serving.iter().map(share).fold(f64::INFINITY, f64::min)
        })
        .collect();
    let best = greedy(candidates, &kept, accesses);
    let mut search = Search {
        candidates,
        serving: &serving,
        least: &least,
        best_cost: total(candidates, &best),
        best,
        left: choices,
    };
    search.extend(&mut Vec::new(), &mut vec![0; accesses], 0);
    search.best.sort_unstable();
    search.best
}

fn total<B>(candidates: &[Candidate<B>], chosen: &[usize]) -> u64 {
    let cost = |index: &usize| candidates[*index].cost;
    chosen.iter().map(cost).fold(0, u64::saturating_add)
}

/// Candidates that no other serves all of at no more cost; of two alike the first.
fn undominated<B>(candidates: &[Candidate<B>]) -> Vec<usize> {
    let beats = |other: usize, own: usize| {
        let [a, b] = [&candidates[other], &candidates[own]];
        let alike = a.cost == b.cost && a.serves.len() == b.serves.len();
        a.cost <= b.cost && is_subset(&b.serves, &a.serves) && (!alike || other < own)
    };
    let all = 0..candidates.len();
    all.clone()
        .filter(|own| !all.clone().any(|other| other != *own && beats(other, *own)))
        .collect()
}

/// Always the candidate that serves most for its cost.
fn greedy<B>(candidates: &[Candidate<B>], kept: &[usize], accesses: usize) -> Vec<usize> {
    let (mut served, mut chosen) = (vec![false; accesses], Vec::new());
    loop {
        let new = |index: &usize| {
            let serves = &candidates[*index].serves;
            serves.iter().filter(|access| !served[**access]).count()
        };
        let mut best: Option<(usize, usize)> = None;
        for index in kept {
            let count = new(index);
            let better = best.is_none_or(|(other, most)| {
                let [own, beaten] = [*index, other].map(|index| u128::from(candidates[index].cost));
                own * (most as u128) < beaten * (count as u128)
            });
            if count > 0 && better {
                best = Some((*index, count));
            }
        }
        let Some((index, _)) = best else {
            return chosen;
        };
        for access in &candidates[index].serves {
            served[*access] = true;
        }
        chosen.push(index);
    }
}

/// Branch and bound.
struct Search<'a, B> {
    candidates: &'a [Candidate<B>],
    serving: &'a [Vec<usize>],
    least: &'a [f64],
    best: Vec<usize>,
    best_cost: u64,
    left: usize,
}

impl<B> Search<'_, B> {
    /// Tries all ways to serve what `served` (how often each access is served) leaves.
    fn extend(&mut self, chosen: &mut Vec<usize>, served: &mut Vec<u32>, cost: u64) {
        let unserved = |access: &usize| served[*access] == 0;
        // The access with the fewest ways to serve it decides soonest.
        let next = (0..served.len())
            .filter(unserved)
            .min_by_key(|access| self.serving[*access].len());
        let Some(next) = next else {
            if cost < self.best_cost {
                self.best_cost = cost;
                self.best.clone_from(chosen);
            }
            return;
        };
        let rest: f64 = (0..served.len())
            .filter(unserved)
            .map(|access| self.least[access])
            .sum();
        // Costs are integers, so that half a unit of rounding hides none.
        if cost as f64 + rest > self.best_cost as f64 - 0.5 {
            return;
        }
        let (serving, candidates) = (self.serving, self.candidates);
        for index in &serving[next] {
            if self.left == 0 {
                return;
            }
            self.left -= 1;
            let candidate = &candidates[*index];
            candidate
                .serves
                .iter()
                .for_each(|access| served[*access] += 1);
            chosen.push(*index);
            self.extend(chosen, served, cost.saturating_add(candidate.cost));
            chosen.pop();
            candidate
                .serves
                .iter()
                .for_each(|access| served[*access] -= 1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn candidate(cost: u64, serves: &[usize]) -> Candidate<()> {
        Candidate {
            base: (),
            start: 0,
            serves: serves.to_vec(),
            cost,
        }
    }

    #[test]
    fn greedy_is_improved_on() {
        // Greedy takes the middle four first and needs three.
        let sets = [
            candidate(10, &[1, 2, 3, 4]),
            candidate(10, &[0, 1, 2]),
            candidate(10, &[3, 4, 5]),
        ];
        assert_eq!(cover(&sets, 6, 100), [1, 2]);
        assert_eq!(cover(&sets, 6, 0), [0, 1, 2]);
    }

    #[test]
    fn a_dear_register_is_avoided() {
        let sets = [
            candidate(50, &[0, 1]),
            candidate(10, &[0]),
            candidate(10, &[1]),
        ];
        assert_eq!(cover(&sets, 2, 100), [1, 2]);
    }

    #[test]
    fn windows_start_at_constants() {
        let found = candidates((), 1, &[(0, 0), (1, 60), (2, 64), (3, 130)], 64);
        let serves: Vec<&[usize]> = found.iter().map(|it| it.serves.as_slice()).collect();
        assert_eq!(serves, [&[0, 1][..], &[1, 2], &[3]]);
    }

    #[test]
    fn covers_are_minimal() {
        // All families of four sets over five accesses that serve all of them.
        for seed in 0..2000u32 {
            let mut state = seed.wrapping_mul(2_654_435_761) | 1;
            let mut next = || {
                state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                state >> 16
            };
            let sets: Vec<_> = (0..5)
                .map(|_| {
                    let bits = next();
                    let serves: Vec<usize> = (0..5).filter(|bit| bits >> bit & 1 == 1).collect();
                    candidate(u64::from(next() % 4 + 1), &serves)
                })
                .filter(|set| !set.serves.is_empty())
                .chain((0..5).map(|access| candidate(4, &[access])))
                .collect();
            let served = |chosen: u32| {
                (0..5).all(|access| {
                    (0..sets.len())
                        .any(|i| chosen >> i & 1 == 1 && sets[i].serves.contains(&access))
                })
            };
            let cost = |chosen: u32| -> u64 {
                (0..sets.len())
                    .filter(|i| chosen >> i & 1 == 1)
                    .map(|i| sets[i].cost)
                    .sum()
            };
            let least = (0..1u32 << sets.len())
                .filter(|c| served(*c))
                .map(cost)
                .min();
            let found = cover(&sets, 5, 10_000);
            assert_eq!(Some(total(&sets, &found)), least, "{sets:?}");
        }
    }
}
