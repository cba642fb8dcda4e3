package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
)

func TestProcessorsAreSplitBetweenNodes(t *testing.T) {
	for _, tt := range []struct {
		online string
		want   [2]string
	}{
		{"0-3", [2]string{"2,3", "0,1"}},
		{"0-2,6-7", [2]string{"2,6,7", "0,1"}},
	} {
		t.Run(tt.online, func(t *testing.T) {
			cpus, err := parseCPUs(tt.online)
			if err != nil {
				t.Fatal(err)
			}
			if got, err := splitCPUs(cpus); err != nil || got != tt.want {
				t.Errorf("reserved are %q (%v), want %q", got, err, tt.want)
			}
		})
	}
	t.Run("not where there are two", func(t *testing.T) {
		if got, err := splitCPUs([]int{0, 1}); err == nil {
			t.Errorf("reserved are %q", got)
		}
	})
}

func TestControlGroupsKeepToTheClustersProcessors(t *testing.T) {
	for _, tt := range []struct {
		name    string
		unified bool
		files   map[string]string
		want    map[string]string // absent where empty
	}{
		{
			name:  "version 1: a node's group has them from the cluster's, which has fewer than its parent",
			files: map[string]string{"cpuset.cpus": "0-3", "cpuset.mems": "0"},
			want:  map[string]string{"cpuset.cpus": "0,1", "node-1/cpuset.cpus": "0,1", "node-1/cpuset.mems": "0"},
		},
		{
			name: "version 1: one without the controller has none", files: map[string]string{"tasks": ""},
			want: map[string]string{"cpuset.cpus": "", "node-1/cpuset.cpus": ""},
		},
		{
			name: "version 2: whatever is below the cluster's group is kept to them", unified: true,
			files: map[string]string{"cgroup.controllers": "cpuset", "linerate-x/cgroup.controllers": "cpuset", "linerate-x/cpuset.cpus": ""},
			want:  map[string]string{"cpuset.cpus": "0,1", "node-1/cpuset.cpus": "", "daemons/cpuset.cpus": ""},
		},
		{
			name: "version 2 beside version 1's controller", unified: true,
			files: map[string]string{"cgroup.controllers": "", "linerate-x/cgroup.controllers": ""},
			want:  map[string]string{"cpuset.cpus": ""},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			root := t.TempDir()
			put(t, root, tt.files)
			g := cgroups{hierarchies: []hierarchy{{mount: root, unified: tt.unified}}, name: "/linerate-x"}
			if err := g.create([]int{0, 1}, "node-1"); err != nil {
				t.Fatal(err)
			}
			for file, want := range tt.want {
				got, err := os.ReadFile(filepath.Join(root, "linerate-x", file))
				if string(got) != want || (err == nil) != (want != "") {
					t.Errorf("%s is %q (%v), want %q", file, got, err, want)
				}
			}
		})
	}
}

func TestAClusterKeepsToItsProcessors(t *testing.T) {
	c := cluster{Name: "x", CPUs: []int{0, 2}, Boxes: []box{{Name: "node-1"}}}
	t.Run("its boxes say that no others are online", func(t *testing.T) {
		path, err := c.writeOnline(t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		if text, err := os.ReadFile(path); err != nil || string(text) != "0,2\n" {
			t.Errorf("%q, %v", text, err)
		}
		if binds := (boxSpec{Online: path}).binds(); !slices.Contains(binds, bind{onlineFile, path}) {
			t.Errorf("the box has %v", binds)
		}
	})
	t.Run("what is started in a box later runs on them", func(t *testing.T) {
		if b, err := c.box("node-1"); err != nil || !slices.Equal(b.cpus, c.CPUs) {
			t.Errorf("%+v, %v", b, err)
		}
	})
	t.Run("it isn't taken for one on fewer", func(t *testing.T) {
		err := c.checkCPUs([]int{0, 1})
		if err == nil || !strings.Contains(err.Error(), "runs on processors 0,2, and this command on 0,1: take it down first") {
			t.Errorf("answer %v", err)
		}
	})
	t.Run("it may be mended from more", func(t *testing.T) {
		if err := c.checkCPUs([]int{0, 1, 2, 3}); err != nil {
			t.Error(err)
		}
	})
	t.Run("one that may have all has what the machine says", func(t *testing.T) {
		path, err := (&cluster{}).writeOnline(t.TempDir())
		if binds := (boxSpec{Online: path}).binds(); err != nil || slices.ContainsFunc(binds, func(b bind) bool { return b.target == onlineFile }) {
			t.Errorf("the box has %v (%v)", binds, err)
		}
	})
}

// onCPUs calls a function on a thread that may run on these processors only.
func onCPUs(t *testing.T, cpus []int, do func()) {
	t.Helper()
	var thread sync.WaitGroup
	var err error
	thread.Go(func() {
		runtime.LockOSThread() // and never unlocked: the thread ends with this function
		if err = runOn(cpus); err == nil {
			do()
		}
	})
	thread.Wait()
	if err != nil {
		t.Fatal(err)
	}
}

func TestAClusterUsesAllowedProcessorsOnly(t *testing.T) {
	allowed, err := allowedCPUs()
	if err != nil {
		t.Fatal(err)
	}
	online, err := onlineCPUs()
	if err != nil {
		t.Fatal(err)
	}
	t.Run("where they are fewer than the machine has", func(t *testing.T) {
		if len(online) < 2 {
			missing(t, "there is one processor only")
		}
		one := allowed[len(allowed)-1:]
		onCPUs(t, one, func() {
			if got, err := ownCPUs(); err != nil || !slices.Equal(got, one) {
				t.Errorf("%v (%v), want %v", got, err, one)
			}
			out, err := exec.Command("cat", "/proc/self/status").Output()
			if want := fmt.Sprintf("Cpus_allowed_list:\t%d\n", one[0]); err != nil || !strings.Contains(string(out), want) {
				t.Errorf("what we start may run elsewhere (%v): %s", err, out)
			}
		})
	})
	t.Run("and none is named where they are all", func(t *testing.T) {
		want := allowed
		if slices.Equal(allowed, online) {
			want = nil
		}
		if got, err := ownCPUs(); err != nil || !slices.Equal(got, want) {
			t.Errorf("%v (%v), want %v", got, err, want)
		}
	})
}
