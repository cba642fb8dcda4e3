package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// verb is a command that can be typed.
type verb struct {
	name, args, help string
	minArgs, maxArgs int // how many arguments it takes; a negative most is any number
	run              func(ctx context.Context, p place, args []string) error
}

// verbs are all commands, in the order in which they are explained.
func verbs() []verb {
	return []verb{
		{"up", "[--exclusive-cpus]", "bring the cluster up, or mend it; prints the path of its kubeconfig", 0, 0,
			upCommand},
		{"down", "", "remove the cluster, or what a crash left of it", 0, 0, downCommand},
		{"status", "", "show what runs, and where its log is", 0, 0, statusCommand},
		{"env", "", "print KUBECONFIG and PATH for the shell's eval", 0, 0, envCommand},
		{"kubectl", "[--] ARGUMENTS", "run kubectl as the administrator", 0, -1, kubectlCommand},
		{"exec", "BOX -- COMMAND", "run a command in a box: control, node-1 or node-2", 2, -1, execCommand},
		{"daemon", "BOX NAME -- COMMAND", "start a program in a box, to be killed and started by its name", 3, -1,
			daemonCommand},
		{"load", "IMAGE.tar…", "give both nodes the images of docker archives", 1, -1, loadCommand},
		{"plugin", "FILE…", "give both nodes a CNI plugin", 1, -1, pluginCommand},
		{"cable", "NAME [NAME-ON-NODE-2]", "lay a cable from node-1 to node-2, an interface at each end", 1, 2,
			cableCommand},
		{"join", "NODE INTERFACE", "let a machine join: its interface on this host, such as a tap, gets to the bridge", 2, 2,
			joinCommand},
		{"node", "NODE INTERFACE", "in a machine that sees this host's files: become the node that joined", 2, 2,
			nodeCommand},
		{"kill", "[BOX] COMPONENT", "kill -9 one component (of control if no box is named)", 1, 2, killCommand},
		{"start", "[BOX] COMPONENT", "start a component that was killed", 1, 2, startCommand},
		{"restart", "[BOX] COMPONENT", "kill -9 one component and start it again", 1, 2, restartCommand},
	}
}

func usage() string {
	var b strings.Builder
	b.WriteString("usage: cluster COMMAND [--name NAME] [--dir DIR] …\n")
	for _, v := range verbs() {
		fmt.Fprintf(&b, "  %-30s %s\n", strings.TrimSpace(v.name+" "+v.args), v.help)
	}
	return b.String()
}

// take runs the command if its arguments can be right.
func (v verb) take(ctx context.Context, p place, args []string) error {
	if len(args) < v.minArgs || v.maxArgs >= 0 && len(args) > v.maxArgs {
		return fmt.Errorf("arguments %q: type cluster %s %s", args, v.name, v.args)
	}
	return v.run(ctx, p, args)
}

// withoutDashes drops a "--" at the given place, which only ends the flags.
func withoutDashes(args []string, index int) []string {
	if len(args) > index && args[index] == "--" {
		return slices.Delete(slices.Clone(args), index, index+1)
	}
	return args
}

func upCommand(ctx context.Context, p place, _ []string) error {
	start := time.Now()
	c, err := bringUp(ctx, p, os.Stderr)
	if err != nil {
		return err
	}
	fmt.Fprintf(os.Stderr, "cluster: %s is ready after %s\n", p.name, time.Since(start).Round(100*time.Millisecond))
	fmt.Println(c.kubeconfig())
	return nil
}

func downCommand(ctx context.Context, p place, _ []string) error { return tearDown(ctx, p, os.Stderr) }

func statusCommand(_ context.Context, p place, _ []string) error {
	c, err := p.running()
	if err != nil {
		return err
	}
	dead := 0
	for _, x := range c.Components {
		runs := "runs as " + fmt.Sprint(x.Process.PID)
		if !x.Process.alive() {
			runs, dead = "doesn't run", dead+1
		}
		fmt.Printf("%-8s %-24s %-16s %s\n", x.Box, x.Name, runs, c.logOf(x))
	}
	if dead > 0 || !c.whole() {
		return errors.New("not everything runs: \"cluster up\" mends it")
	}
	return nil
}

func envCommand(_ context.Context, p place, _ []string) error {
	c, err := p.running()
	if err != nil {
		return err
	}
	fmt.Printf("export KUBECONFIG='%s'\nexport PATH='%s':\"$PATH\"\n", c.kubeconfig(), c.Assets)
	return nil
}

func loadCommand(ctx context.Context, p place, args []string) error {
	c, err := p.running()
	if err != nil {
		return err
	}
	return c.loadImages(ctx, args...)
}

func pluginCommand(_ context.Context, p place, args []string) error {
	c, err := p.running()
	if err != nil {
		return err
	}
	for _, path := range args {
		for _, n := range c.nodes() {
			if err := install(path, filepath.Join(c.dir, n.name, "opt/cni/bin")); err != nil {
				return fmt.Errorf("install %s on %s: %w", path, n.name, err)
			}
		}
	}
	return nil
}

// install puts a program into a directory at once, also where an older one is running.
func install(path, dir string) error {
	content, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	target := filepath.Join(dir, filepath.Base(path))
	if err := os.WriteFile(target+".new", content, 0o755); err != nil {
		return err
	}
	return os.Rename(target+".new", target)
}
