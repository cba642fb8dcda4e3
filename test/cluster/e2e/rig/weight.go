package rig

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
)

// outweigh has the cluster's pods come before whatever else the machine does: all of them together would weigh
// as much as one process of someone who compiles meanwhile, and a generator that waits for a processor measures
// itself. Nothing is taken from an idle machine's others.
func (r *Rig) outweigh(context.Context) error {
	const maxWeight = "262144" // of control groups' version 1; version 2 has 10000
	found := 0
	for pattern, weight := range map[string]string{"/sys/fs/cgroup/cpu*/%s/cpu.shares": maxWeight,
		"/sys/fs/cgroup/%s/cpu.weight": "10000"} {
		for _, group := range []string{"linerate-" + r.Name, "linerate-" + r.Name + "/node-*"} {
			files, err := filepath.Glob(fmt.Sprintf(pattern, group))
			if err != nil {
				return err
			}
			for _, f := range files {
				if err := os.WriteFile(f, []byte(weight), 0); err != nil {
					return err
				}
				found++
			}
		}
	}
	if found == 0 {
		return fmt.Errorf("no control group of the cluster %s has a weight: is the controller cpu mounted?", r.Name)
	}
	return nil
}
