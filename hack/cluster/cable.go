package main

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/vishvananda/netns"
)

// layCable joins node-1 and node-2 by a cable that frames under test go through. Of one that is there already
// the ends are brought up, but for those that pods hold.
func (c *cluster) layCable(first, second string) error {
	stack, err := c.open("node-1")
	if err != nil {
		return err
	}
	defer stack.close()
	far, err := c.open("node-2")
	if err != nil {
		return err
	}
	defer far.close()
	label := fmt.Sprintf("cable-%s-%s", first, second)
	nearHere, farHere := stack.labelled(first, label), far.labelled(second, label)
	switch occupied := c.podsHold("node-1", label) || c.podsHold("node-2", label); {
	case nearHere || farHere || occupied:
		return errors.Join(stack.upIf(nearHere, first), far.upIf(farHere, second))
	default:
		return errors.Join(stack.cable(first, far, second, 0), stack.label(first, label), far.label(second, label))
	}
}

// label gives an interface a second name that says which cable it is an end of. It keeps that wherever it goes
// and whatever it is called there. (Its alias would not do: the plugin host-device remembers the old name in
// it.)
func (s *stack) label(name, label string) error {
	link, err := s.LinkByName(name)
	if err == nil {
		err = s.LinkAddAltName(link, label)
	}
	if err != nil {
		return fmt.Errorf("label %s: %w", name, err)
	}
	return nil
}

func (s *stack) labelled(name, label string) bool {
	link, err := s.LinkByName(name)
	return err == nil && slices.Contains(link.Attrs().AltNames, label)
}

func (s *stack) upIf(present bool, name string) error {
	if !present {
		return nil
	}
	return s.setUp(name)
}

// podsHold is whether a pod of the node has an end of the cable.
func (c *cluster) podsHold(node, label string) bool {
	b, err := c.box(node)
	if err != nil {
		return false
	}
	paths, _ := filepath.Glob(fmt.Sprintf("/proc/%d/root/run/netns/*", b.Init.PID)) // the only error is a bad pattern
	for _, path := range paths {
		if holds(path, label) {
			return true
		}
	}
	return false
}

// holds is whether a network namespace has an interface with the label. A namespace that vanished meanwhile has none.
func holds(path, label string) bool {
	ns, err := netns.GetFromPath(path)
	if err != nil {
		return false
	}
	s, err := openStack(ns)
	if err != nil {
		return false
	}
	defer s.close()
	links, _ := s.LinkList()
	for _, link := range links {
		if slices.Contains(link.Attrs().AltNames, label) {
			return true
		}
	}
	return false
}
