package main

import (
	"slices"
	"testing"
)

func TestArguments(t *testing.T) {
	c, err := read([]byte("- version: 2\n  interfaces: [west, east]\n  zmq_rpc_port: 4501\n  port_speed: 1000\n"))
	want := []string{"linerate", "generator", "--ports", "west,east", "--listen", ":4501", "--cores", "1", "--heartbeat", "0", "--secret-file", "", "--open", "--termination-log", "/dev/null", "--speed", "1000mbps"}
	if got := c.arguments("1"); err != nil || c.onFunctions() || !slices.Equal(got, want) {
		t.Errorf("%v, %q", err, got)
	}
	for _, text := range []string{"", "[]", "- {}", "{interfaces: [west]}"} {
		if got, err := read([]byte(text)); err == nil {
			t.Errorf("%q: %v", text, got)
		}
	}
	if c, err := read([]byte("[{interfaces: [\"3b:10.0\", \"3b:10.1\"], zmq_rpc_port: 4501}]")); err != nil || !c.onFunctions() {
		t.Errorf("%v, %v", err, c)
	}
}
