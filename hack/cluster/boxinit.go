package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// boxSpec is what a box's first process reads from its standard input.
type boxSpec struct {
	Hostname string // the box's
	Dir      string // what it has of its own: lib, log and opt
	Bin      string // the programs of Kubernetes
	Online   string // the file that says which processors the box has; empty: the machine's
	Machine  bool   // the box is a whole machine, which keeps its /proc, /sys and /run
}

const (
	ready    = "ready"
	inBoxBin = "/opt/kubernetes/bin"
)

// boxInit is the first process of a box: it sets up the mounts, says so, and reaps until it is killed. Its
// descriptor 3 brings the word to begin, or ends without it when whoever started us died; its descriptor 4
// takes the answer.
func boxInit() error {
	var spec boxSpec
	if err := json.NewDecoder(os.Stdin).Decode(&spec); err != nil {
		return err
	}
	goAhead, answer := os.NewFile(3, "go-ahead"), os.NewFile(4, "answer")
	if n, _ := goAhead.Read(make([]byte, 2)); n == 0 {
		return errors.New("no word to begin")
	}
	children := make(chan os.Signal, 1)
	signal.Notify(children, unix.SIGCHLD)
	signal.Ignore(unix.SIGHUP, unix.SIGINT, unix.SIGPIPE)
	if err := setUp(spec); err != nil {
		fmt.Fprint(answer, err)
		return err
	}
	if _, err := answer.WriteString(ready); err != nil {
		return err
	}
	if err := answer.Close(); err != nil {
		return err
	}
	for range children {
		reap()
	}
	return nil
}

// reap takes leave of all children that ended.
func reap() {
	for {
		if pid, err := unix.Wait4(-1, nil, unix.WNOHANG, nil); pid <= 0 && !errors.Is(err, unix.EINTR) {
			return
		}
	}
}

func setUp(spec boxSpec) error {
	if err := unix.Sethostname([]byte(spec.Hostname)); err != nil {
		return fmt.Errorf("set the host name: %w", err)
	}
	if err := mountAll(spec); err != nil {
		return err
	}
	return setKernel(map[string]string{
		"net/ipv4/ip_forward":                 "1",
		"net/ipv4/conf/all/rp_filter":         "0",
		"net/ipv4/conf/default/rp_filter":     "0",
		"net/bridge/bridge-nf-call-iptables":  "0", // kube-proxy's rules are for pods, not for frames under test
		"net/bridge/bridge-nf-call-ip6tables": "0",
	})
}

// mountAll gives the box its own /proc, /sys, /run, /opt, /var/log and /var/lib. All else is the machine's.
func mountAll(spec boxSpec) error {
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("part from the machine's mounts: %w", err)
	}
	binds := spec.binds()
	// Opened before anything is mounted over: the cluster's directory may lie in any of these places.
	sources := make([]int, len(binds))
	for i, b := range binds {
		fd, err := unix.Open(b.source, unix.O_PATH|unix.O_CLOEXEC, 0)
		if err != nil {
			return fmt.Errorf("open %s: %w", b.source, err)
		}
		sources[i] = fd
	}
	for target, kind := range spec.fresh() {
		if err := unix.Mount("linerate", target, kind, 0, ""); err != nil {
			return fmt.Errorf("mount %s: %w", target, err)
		}
	}
	for i, b := range binds {
		if err := unix.Mount(fmt.Sprintf("/proc/self/fd/%d", sources[i]), b.target, "", unix.MS_BIND|unix.MS_REC,
			""); err != nil {
			return fmt.Errorf("bind %s: %w", b.target, err)
		}
	}
	// What a kubelet mounts must be seen in its pods, as on a machine of its own.
	return unix.Mount("", "/", "", unix.MS_REC|unix.MS_SHARED, "")
}

// fresh are the file systems, by their kind, that a box mounts anew.
func (s boxSpec) fresh() map[string]string {
	if s.Machine {
		return nil
	}
	return map[string]string{"/proc": "proc", "/sys": "sysfs", "/run": "tmpfs"}
}

// bind is what a box finds at a path in place of what the machine has there.
type bind struct{ target, source string }

// binds are in an order in which each finds its target.
func (s boxSpec) binds() []bind {
	binds := []bind{
		{"/sys/fs/cgroup", "/sys/fs/cgroup"},
		{"/opt", filepath.Join(s.Dir, "opt")},
		{inBoxBin, s.Bin},
		{"/var/log", filepath.Join(s.Dir, "log")},
		{"/var/lib", filepath.Join(s.Dir, "lib")},
	}
	if s.Online != "" {
		binds = append(binds, bind{onlineFile, s.Online})
	}
	return binds
}

// setKernel sets parameters of the box's network namespace. It skips parameters that this kernel doesn't have.
func setKernel(parameters map[string]string) error {
	for name, value := range parameters {
		err := os.WriteFile(filepath.Join("/proc/sys", name), []byte(value), 0)
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return fmt.Errorf("set %s: %w", name, err)
		}
	}
	return nil
}
