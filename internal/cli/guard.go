package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strconv"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/linerate-dev/linerate/internal/engine/trex"
	"github.com/linerate-dev/linerate/internal/host/bounded"
	"github.com/linerate-dev/linerate/internal/host/credential"
)

const (
	guardVerb = "guard"
	guardDone = "done" // the line by which a run that stopped its traffic ends its guard
	// guardStops is how soon after a run's death its guard has stopped the traffic of a server that answers at once.
	guardStops = 5 * time.Second
	// The guard asks a server that doesn't answer again after guardPause, and gives it up after guardGivesUp,
	// since such a server is gone, and its traffic with it.
	guardPause, guardGivesUp = time.Second, 10 * time.Minute
)

// guard is a process that outlives a killed run, and stops its traffic. A TRex has no heartbeat. It sends on
// after its client's death, and for hours where its load is more than it can send.
//
//	run    ──────── killed
//	guard  ─────────────┤ its standard input ends ├ takes up the session ├ stops the run's ports ├ releases them
type guard struct {
	process *exec.Cmd
	input   io.WriteCloser
}

// startGuard starts the guard of one server's ports, which belong to a session. The server's key goes through
// the pipe, since everybody may read a process's arguments. The guard has a session of its own, so that a
// terminal's signals don't reach it.
func startGuard(server string, key credential.Key, session uint32, ports int) (*guard, error) {
	cmd := exec.Command("/proc/self/exe", guardVerb, server, strconv.FormatUint(uint64(session), 10),
		strconv.Itoa(ports))
	cmd.Args[0] = "linerate"
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	input, err := cmd.StdinPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err == nil {
		text, _ := key.MarshalText() // never fails
		_, err = fmt.Fprintf(input, "%s\n", text)
	}
	if err != nil {
		return nil, fmt.Errorf("start the process that stops traffic if this one dies: %w", err)
	}
	return &guard{cmd, input}, nil
}

// end ends the guard of a run that has stopped its traffic itself.
func (g *guard) end() {
	_, _ = fmt.Fprintln(g.input, guardDone)
	_ = g.input.Close()
	_ = g.process.Wait()
}

func newGuard(s Streams) *cobra.Command {
	return &cobra.Command{
		Use:    guardVerb + " SERVER SESSION PORTS",
		Short:  "Stop a TRex's traffic when the run that started it dies (for linerate's own use)",
		Hidden: true,
		Args:   cobra.ExactArgs(3),
		RunE: func(cmd *cobra.Command, args []string) error {
			session, err := strconv.ParseUint(args[1], 10, 32)
			if err != nil {
				return fmt.Errorf("session %q: %w", args[1], err)
			}
			ports, err := strconv.Atoi(args[2])
			if err != nil {
				return fmt.Errorf("ports %q: %w", args[2], err)
			}
			return standGuard(cmd.Context(), s.Stdin, func(ctx context.Context, key credential.Key) error {
				return stopSession(ctx, args[0], key, uint32(session), ports)
			})
		},
	}
}

// standGuard waits until the run ends, and stops its traffic unless the run's last line is guardDone. The run's
// first line is the server's key.
func standGuard(ctx context.Context, run io.Reader, stop func(context.Context, credential.Key) error) error {
	lines := bufio.NewScanner(run)
	var key credential.Key
	if !lines.Scan() {
		return nil // the run died before it sent anything
	}
	if err := key.UnmarshalText(lines.Bytes()); err != nil {
		return err
	}
	for lines.Scan() {
		if lines.Text() == guardDone {
			return nil
		}
	}
	ctx, cancel := context.WithTimeout(ctx, guardGivesUp)
	defer cancel()
	for {
		err := stop(ctx, key)
		if err == nil || bounded.Pause(ctx, guardPause) != nil {
			return err
		}
	}
}

// stopSession stops a session's ports, clears them and releases them. It leaves ports of other owners alone.
func stopSession(ctx context.Context, server string, key credential.Key, session uint32, ports int) error {
	ctx, cancel := context.WithTimeout(ctx, guardStops)
	defer cancel()
	client, err := trex.Dial(ctx, server, trex.Options{Session: session, Dial: key.DialerOrPlain(credential.Control)})
	if err != nil {
		return err
	}
	defer func() { _ = client.Close() }()
	var failed []error
	for port := range ports {
		err := client.Acquire(ctx, port, false)
		if _, foreign := errors.AsType[*trex.TakenError](err); foreign {
			continue
		}
		if err == nil {
			err = errors.Join(client.Reset(ctx, port), client.Release(ctx, port))
		}
		failed = append(failed, err)
	}
	return errors.Join(failed...)
}
