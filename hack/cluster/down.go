package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/vishvananda/netlink"
)

// tearDown removes the cluster, or what is left of one.
func tearDown(ctx context.Context, p place, stderr io.Writer) error {
	lock, err := p.lock()
	if err != nil {
		return err
	}
	defer func() { _ = lock.Close() }()
	if err := remove(ctx, p, stderr); err != nil {
		return err
	}
	_ = os.Remove(p.root) // if no other cluster is in it
	return nil
}

// remove ends every process of the cluster and deletes what is the cluster's, in whatever state it is.
// Processes are found twice: by what was written down, and by their control group, which also knows those of
// which there was no time to write anything down.
func remove(ctx context.Context, p place, stderr io.Writer) error {
	ctx, cancel := context.WithTimeoutCause(ctx, time.Minute, errors.New("a minute went by"))
	defer cancel()
	if err := p.checkOwner(); err != nil {
		return err
	}
	c, found, err := p.load()
	if err != nil {
		fmt.Fprintln(stderr, "cluster:", err) // the control groups will do
	}
	if found {
		for _, b := range c.Boxes {
			err = errors.Join(err, b.Init.kill(ctx))
		}
	}
	groups, groupsErr := findCgroups(p.name)
	if groupsErr == nil {
		groupsErr = groups.remove(ctx)
	}
	if err := errors.Join(err, groupsErr, removeLink("lr-"+p.name)); err != nil {
		return err
	}
	// What a dying process was writing may appear while we remove.
	if err := await(ctx, "the removal of "+p.dir(), func() bool { return os.RemoveAll(p.dir()) == nil }); err != nil {
		return errors.Join(err, os.RemoveAll(p.dir()))
	}
	return leftovers(p)
}

// checkOwner refuses to touch a cluster of the same name that is kept elsewhere.
func (p place) checkOwner() error {
	groups, err := findCgroups(p.name)
	if err != nil {
		return err
	}
	for _, home := range groups.homes() {
		root := filepath.Dir(filepath.Dir(home))
		if _, err := os.Stat(filepath.Join(root, p.name, "state.json")); err == nil && root != p.root {
			return fmt.Errorf("there is a cluster %q in %s: choose another --name, or say --dir %s", p.name, root, root)
		}
	}
	return nil
}

// removeLink removes an interface of the host. With the boxes it goes by itself, but the kernel takes its time.
func removeLink(name string) error {
	link, err := netlink.LinkByName(name)
	if err == nil {
		err = netlink.LinkDel(link)
	}
	if _, absent := errors.AsType[netlink.LinkNotFoundError](err); absent || errors.Is(err, os.ErrNotExist) {
		return nil
	}
	return err
}

// leftovers names whatever there still is of a cluster.
func leftovers(p place) error {
	var errs []error
	if groups, err := findCgroups(p.name); err != nil || len(groups.groups()) > 0 {
		errs = append(errs, fmt.Errorf("control groups %v, with processes %v (%w)", groups.groups(), groups.members(),
			err))
	}
	if _, err := netlink.LinkByName("lr-" + p.name); err == nil {
		errs = append(errs, fmt.Errorf("interface lr-%s", p.name))
	}
	if _, err := os.Stat(p.dir()); err == nil {
		errs = append(errs, fmt.Errorf("directory %s", p.dir()))
	}
	mounts, err := mountsBelow(p.dir())
	if err != nil || len(mounts) > 0 {
		errs = append(errs, fmt.Errorf("mounts %v (%w)", mounts, err))
	}
	if len(errs) > 0 {
		return fmt.Errorf("still there: %w", errors.Join(errs...))
	}
	return nil
}

func mountsBelow(dir string) ([]string, error) {
	file, err := os.Open("/proc/self/mountinfo")
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }()
	var mounts []string
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		if fields := strings.Fields(lines.Text()); len(fields) > 4 && strings.HasPrefix(fields[4], dir+"/") {
			mounts = append(mounts, fields[4])
		}
	}
	slices.Sort(mounts)
	return mounts, lines.Err()
}
