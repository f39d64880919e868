package harness

import "fmt"

// restore counts the children that an earlier execution of the plan finished,
// so that they are not run again. A child that was interrupted is not among
// them. It is called before the first child starts.
func (e *execution) restore() error {
	if e.c.Earlier == nil {
		return nil
	}
	scenarios := map[string]int{}
	for i, s := range e.c.Plan.Scenarios {
		scenarios[s.Name] = i
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.earlier = map[Key]bool{}
	return e.c.Earlier(func(r Record) error {
		k := r.Key()
		switch _, _, err := e.c.Plan.find(k); {
		case err != nil:
			return fmt.Errorf("an earlier record is not of this campaign: %w", err)
		case r.Seed != ChildSeed(e.c.Plan.Seed, k.Scenario, k.Run, k.Child):
			return fmt.Errorf("an earlier record is not of this campaign: child %d of run %d, %s, of %s has seed %d, the plan gives it %d",
				k.Child, k.Run, k.Arm, k.Scenario, r.Seed, ChildSeed(e.c.Plan.Seed, k.Scenario, k.Run, k.Child))
		case r.Outcome == NotMeasured:
			return nil
		case e.earlier[k]:
			return fmt.Errorf("two earlier records of child %d of run %d, %s, of %s", k.Child, k.Run, k.Arm, k.Scenario)
		}
		j := job{scenarios[k.Scenario], k}
		k.Scenario = e.c.Plan.Scenarios[j.scenario].Name // one copy of the name
		e.earlier[k] = true
		e.done++
		e.tallies[j.scenario].Add(r)
		e.countFail(j, r)
		return nil
	})
}
