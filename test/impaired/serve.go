package impaired

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"runtime/debug"
	"time"
)

// asked is the variable of the environment that makes a program a device.
const asked = "LINERATE_TEST_IMPAIRED_DEVICE"

// Spec is a device: its two interfaces, and what becomes of frames that enter each.
type Spec struct {
	Interfaces [2]string     `json:"interfaces"`
	Ports      [2]Impairment `json:"ports"`
}

// answer is what a device says when it forwards, and whenever it is asked for its counts.
type answer struct {
	Error  string    `json:"error,omitempty"`
	Counts [2]Counts `json:"counts"`
}

// Main makes this process a device if it was started as one (Start), and then never returns. It must come first in main, or in TestMain.
func Main() {
	if os.Getenv(asked) == "" {
		return
	}
	if err := serve(os.Stdin, os.Stdout); err != nil {
		_ = json.NewEncoder(os.Stdout).Encode(answer{Error: err.Error()})
		os.Exit(1)
	}
	os.Exit(0)
}

// serve reads the Spec, says that the device forwards, and then its counts for each line that it reads, until there is none.
func serve(questions io.Reader, answers io.Writer) error {
	from, to := json.NewDecoder(bufio.NewReader(questions)), json.NewEncoder(answers)
	var s Spec
	if err := from.Decode(&s); err != nil {
		return fmt.Errorf("read what to be: %w", err)
	}
	debug.SetGCPercent(1000) // there is little to collect, and a frame shouldn't wait for it
	carriers, err := s.carry()
	if err != nil {
		return err
	}
	for {
		var a answer
		for i, c := range carriers {
			a.Counts[i] = c.counts()
		}
		if err := to.Encode(a); err != nil {
			return err
		}
		var question json.RawMessage
		if err := from.Decode(&question); err != nil {
			return nil //nolint:nilerr // whoever started the device has ended, or closed it
		}
		settle(carriers)
	}
}

// carry begins to forward.
func (s Spec) carry() (carriers [2]*carrier, err error) {
	var index [2]int
	for i, name := range s.Interfaces {
		port, err := net.InterfaceByName(name)
		if err != nil {
			return carriers, fmt.Errorf("port %s: %w", name, err)
		}
		index[i] = port.Index
	}
	for i, impairment := range s.Ports {
		if carriers[i], err = newCarrier(impairment, index[i], index[1-i]); err != nil {
			return carriers, fmt.Errorf("port %s: %w", s.Interfaces[i], err)
		}
	}
	for _, c := range carriers {
		go c.run()
	}
	return carriers, nil
}

// settle waits until nothing is inside any more, for a second at most: what comes meanwhile keeps a device busy.
func settle(carriers [2]*carrier) {
	for end := time.Now().Add(time.Second); time.Now().Before(end); time.Sleep(time.Millisecond) {
		if carriers[0].idle.Load() && carriers[1].idle.Load() {
			return
		}
	}
}

// Check says what of a Spec contradicts itself.
func (s Spec) Check() error {
	return errors.Join(s.Ports[0].Check(), s.Ports[1].Check())
}
