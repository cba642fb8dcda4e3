package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/netip"
	"os"
	"path/filepath"
	"regexp"

	"golang.org/x/sys/unix"
)

// cluster is what is written down about a cluster, so that the next command finds it. It changes only under its lock.
type cluster struct {
	Name          string       `json:"name"`
	Assets        string       `json:"assets"` // where the programs are
	Subnet        netip.Prefix `json:"subnet"`
	ExclusiveCPUs bool         `json:"exclusiveCPUs"`
	CPUs          []int        `json:"cpus,omitempty"` // the processors that it keeps to; none: all of the machine's
	Boxes         []box        `json:"boxes"`
	Components    []component  `json:"components"`
	Machines      []string     `json:"machines,omitempty"` // nodes beside the boxes, in the order in which they joined
	Machine       string       `json:"machine,omitempty"`  // in a machine that joined: its node's name
	dir           string       // everything of this cluster's own, and nothing else
}

// component is a program of Kubernetes in its box. It stays written down while it doesn't run, to be started again.
type component struct {
	Name    string   `json:"name"`
	Box     string   `json:"box"`
	Program string   `json:"program,omitempty"` // its path; usually that of its name among Kubernetes' programs
	Args    []string `json:"args"`
	Process process  `json:"process"`
}

var validName = regexp.MustCompile(`^[a-z][a-z0-9]{0,9}$`)

// place is where a cluster is kept, and what it shall be like.
type place struct {
	root, name    string
	exclusiveCPUs bool
}

func (p place) check() error {
	if !validName.MatchString(p.name) {
		return fmt.Errorf("--name %q: use at most ten lower-case letters and digits, a letter first: interfaces are named after it", p.name)
	}
	if os.Geteuid() != 0 {
		return errors.New("nodes are made of namespaces, mounts and cgroups: run as root")
	}
	return nil
}

func (p place) dir() string { return filepath.Join(p.root, p.name) }

// lock waits until no other command changes clusters here.
func (p place) lock() (*os.File, error) {
	if err := os.MkdirAll(p.root, 0o755); err != nil {
		return nil, err
	}
	return lockDir(p.root)
}

// lockDir waits for the lock of a directory. The kernel frees it when we end, for whatever reason.
func lockDir(path string) (*os.File, error) {
	dir, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	for {
		if err = unix.Flock(int(dir.Fd()), unix.LOCK_EX); !errors.Is(err, unix.EINTR) {
			break
		}
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("lock %s: %w", path, err), dir.Close())
	}
	return dir, nil
}

// load reads what was written down; found is false where there is nothing.
func (p place) load() (c *cluster, found bool, err error) {
	text, err := os.ReadFile(filepath.Join(p.dir(), "state.json"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, err
	}
	c = &cluster{dir: p.dir()}
	if err := json.Unmarshal(text, c); err != nil {
		return nil, false, fmt.Errorf("read %s/state.json: %w", p.dir(), err)
	}
	return c, true, nil
}

// running loads a cluster that must be there.
func (p place) running() (*cluster, error) {
	c, found, err := p.load()
	if err == nil && !found {
		err = fmt.Errorf("there is no cluster %q in %s: bring it up first", p.name, p.root)
	}
	return c, err
}

// save writes everything down, or leaves what was written before.
func (c *cluster) save() error {
	text, err := json.MarshalIndent(c, "", "  ")
	if err != nil {
		return err
	}
	path := filepath.Join(c.dir, "state.json")
	if err := os.WriteFile(path+".new", text, 0o600); err != nil {
		return err
	}
	return os.Rename(path+".new", path)
}

func (c *cluster) box(name string) (box, error) {
	for _, b := range c.Boxes {
		if b.Name == name {
			b.cpus = c.CPUs
			return b, nil
		}
	}
	return box{}, fmt.Errorf("cluster %q has no %q: it has control, node-1 and node-2", c.Name, name)
}

// component finds one by box and name.
func (c *cluster) component(box, name string) (*component, error) {
	for i := range c.Components {
		if c.Components[i].Box == box && c.Components[i].Name == name {
			return &c.Components[i], nil
		}
	}
	return nil, fmt.Errorf("%s has no component %q: see \"cluster status\"", box, name)
}
