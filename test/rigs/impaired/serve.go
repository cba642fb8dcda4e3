package impaired

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"runtime"
	"runtime/debug"
	"time"

	"github.com/linerate-dev/linerate/test/rigs/fabric/vf"
)

// deviceVariable is the variable of the environment that makes a program a device.
const deviceVariable = "LINERATE_TEST_IMPAIRED_DEVICE"

// Spec is a device, with its two interfaces, and what becomes of frames that enter each.
type Spec struct {
	Interfaces [2]string     `json:"interfaces"`
	Ports      [2]Impairment `json:"ports"`
	// InKernel has the kernel carry frames, in the thread that sends them, for rates that no process reaches. It can
	// lose or double one in N, and limit.
	InKernel bool `json:"inKernel,omitempty"`
	// Records has it keep the residence time of each frame (Device.Residences). That costs some µs a frame.
	Records bool `json:"records,omitempty"`
}

// port carries what enters an interface.
type port interface {
	counts() (Counts, error)
	// empty says whether nothing is inside.
	empty() bool
	// residence is how long frames stayed inside, by their bytes and by their bucket in package transit, and of
	// how many it isn't known.
	residence() (stayed map[int]map[int]uint64, unstamped int64)
}

// answer is what a device says when it forwards, and whenever it is asked for its counts.
type answer struct {
	Error      string                    `json:"error,omitempty"`
	Counts     [2]Counts                 `json:"counts"`
	Residences [2]map[int]map[int]uint64 `json:"held"`
	Unstamped  [2]int64                  `json:"without"` // how many frames Residences lacks
}

// Main makes this process a device if it was started as one (Start), and then never returns. It must come first
// in main, or in TestMain.
func Main() {
	if os.Getenv(deviceVariable) == "" {
		return
	}
	if err := serve(os.Stdin, os.Stdout); err != nil {
		_ = json.NewEncoder(os.Stdout).Encode(answer{Error: err.Error()})
		os.Exit(1)
	}
	os.Exit(0)
}

// serve reads the Spec, says that the device forwards, and then its counts for each line that it reads, until
// there is none.
func serve(questions io.Reader, answers io.Writer) error {
	decoder, encoder := json.NewDecoder(bufio.NewReader(questions)), json.NewEncoder(answers)
	var s Spec
	if err := decoder.Decode(&s); err != nil {
		return fmt.Errorf("read what to be: %w", err)
	}
	// there is little to collect, and a frame shouldn't wait for it
	debug.SetGCPercent(1000)
	// threads that carry frames keep their places while they sleep
	runtime.GOMAXPROCS(runtime.GOMAXPROCS(0) + len(s.Ports))
	var ports [2]port
	err := vf.InNamespace(fmt.Sprintf("/proc/self/fd/%d", namespaceFile), func() (err error) {
		ports, err = s.carry()
		return err
	})
	if err != nil {
		return err
	}
	for {
		var a answer
		for i, p := range ports {
			if a.Counts[i], err = p.counts(); err != nil {
				return err
			}
			a.Residences[i], a.Unstamped[i] = p.residence()
		}
		if err := encoder.Encode(a); err != nil {
			return err
		}
		var question json.RawMessage
		if err := decoder.Decode(&question); err != nil {
			return nil //nolint:nilerr // the process that started the device has ended, or closed it
		}
		settle(ports)
	}
}

// namespaceFile is the descriptor by which a device has its interfaces' namespace.
const namespaceFile = 3

// carry begins to forward. It is called in the namespace.
func (s Spec) carry() (ports [2]port, err error) {
	var index [2]int
	for i, name := range s.Interfaces {
		link, err := net.InterfaceByName(name)
		if err != nil {
			return ports, fmt.Errorf("port %s: %w", name, err)
		}
		index[i] = link.Index
	}
	for i, name := range s.Interfaces {
		if ports[i], err = s.carryFrom(i, index); err != nil {
			return ports, fmt.Errorf("port %s: %w", name, err)
		}
	}
	return ports, nil
}

func (s Spec) carryFrom(i int, index [2]int) (port, error) {
	if s.InKernel {
		return newKernelPort(s.Ports[i], s.Interfaces[i], index[1-i])
	}
	c, err := newCarrier(s.Ports[i], index[i], index[1-i], s.Records)
	if err != nil {
		return nil, err
	}
	go c.run()
	return c, nil
}

// settle waits until nothing is inside any more, for a second at most, as new frames keep a device busy.
func settle(ports [2]port) {
	for end := time.Now().Add(time.Second); time.Now().Before(end); time.Sleep(time.Millisecond) {
		if ports[0].empty() && ports[1].empty() {
			return
		}
	}
}

// works says whether frames cost the device work.
func (s Spec) works() bool { return s.Ports[0].Work > 0 || s.Ports[1].Work > 0 }

// Check says what of a Spec contradicts itself.
func (s Spec) Check() error {
	err := errors.Join(s.Ports[0].Check(), s.Ports[1].Check())
	if s.InKernel && (s.Records || !s.Ports[0].inKernel() || !s.Ports[1].inKernel()) {
		err = errors.Join(err, errInKernel)
	}
	return err
}
