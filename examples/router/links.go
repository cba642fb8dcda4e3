package main

import (
	"encoding/json"
	"fmt"
	"net/netip"
	"os"
)

// link is what a router needs of an entry in links.json.
type link struct {
	Name      string
	Interface string
	// Addresses are ours on it.
	Addresses []netip.Prefix
	// Generators are at its other end, each with networks behind it.
	Generators []struct {
		Address  netip.Addr
		Networks []netip.Prefix
	}
}

func read(file string) ([]link, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	return parse(text)
}

func parse(text []byte) ([]link, error) {
	var document struct{ Links []link }
	if err := json.Unmarshal(text, &document); err != nil {
		return nil, fmt.Errorf("read the links: %w", err)
	}
	if len(document.Links) == 0 {
		return nil, fmt.Errorf("read the links: there is none in %s", text)
	}
	return document.Links, nil
}
