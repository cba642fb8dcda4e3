package main

import (
	"context"
	"fmt"
	"os/exec"
	"strings"
)

// packaged is what nodes take from the machine, and the Debian package that has it.
type packaged struct{ program, debian string }

func packages() []packaged {
	return []packaged{
		{"runc", "runc"},
		{"/usr/lib/cni/host-device", "containernetworking-plugins"},
		{"nft", "nftables"},
		{"ip", "iproute2"},
	}
}

// installPackages installs what the machine lacks, where it can, and says so.
func (l *lab) installPackages(ctx context.Context) error {
	missing := missingPackages(exec.LookPath)
	if len(missing) == 0 {
		return nil
	}
	install := append([]string{"install", "-y", "-qq", "--no-install-recommends"}, missing...)
	if _, err := exec.LookPath("apt-get"); err != nil {
		return fmt.Errorf("this machine lacks what Debian has in %s, and isn't a Debian: install them by its own means", strings.Join(missing, ", "))
	}
	l.say("  missing: apt-get %s", strings.Join(install, " "))
	for _, args := range [][]string{{"update", "-qq"}, install} {
		cmd := exec.CommandContext(ctx, "apt-get", args...)
		cmd.Env = append(cmd.Environ(), "DEBIAN_FRONTEND=noninteractive")
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("apt-get %s: %w: %s", strings.Join(args, " "), err, out)
		}
	}
	return nil
}

// missingPackages are those of which find doesn't know the program.
func missingPackages(find func(string) (string, error)) []string {
	var missing []string
	for _, p := range packages() {
		if _, err := find(p.program); err != nil {
			missing = append(missing, p.debian)
		}
	}
	return missing
}
