package main

import (
	"bufio"
	"context"
	_ "embed" // the program of the library's side
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/linerate-dev/linerate/internal/procedure/goals"
)

const version = "1.2.1"

//go:embed library.py
var program string

// A library is the package MLRsearch in a Python of its own.
type library struct {
	command *exec.Cmd
	stdin   io.WriteCloser
	stdout  *bufio.Reader
}

// openLibrary starts the package, which it installs into the user's cache if it isn't there.
func openLibrary(ctx context.Context) (*library, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return nil, err
	}
	folder := filepath.Join(cache, "linerate", "mlrsearch-"+version)
	python := filepath.Join(folder, "bin", "python")
	if exec.CommandContext(ctx, python, "-c", "import MLRsearch").Run() != nil {
		for _, command := range [][]string{{"python3", "-m", "venv", folder}, {filepath.Join(folder, "bin", "pip"),
			"install", "--quiet", "MLRsearch==" + version}} {
			if output, err := exec.CommandContext(ctx, command[0], command[1:]...).CombinedOutput(); err != nil {
				return nil, fmt.Errorf("the library MLRsearch %s could not be installed into %s (python3 with venv and pip is needed, and PyPI): %w: %s", version, folder, err, output)
			}
		}
	}
	l := &library{command: exec.CommandContext(ctx, python, "-c", program)}
	l.command.Stderr = os.Stderr
	if l.stdin, err = l.command.StdinPipe(); err != nil {
		return nil, err
	}
	stdout, err := l.command.StdoutPipe()
	if err != nil {
		return nil, err
	}
	l.stdout = bufio.NewReader(stdout)
	return l, l.command.Start()
}

func (l *library) close() error {
	return errors.Join(l.stdin.Close(), l.command.Wait())
}

type answer struct {
	Load, Duration float64
	Results        []struct{ Lower, Upper *float64 }
}

// search makes the library search a simulated device for goals.
func (l *library) search(settings goals.Settings, lab *searchBench) ([]bracket, error) {
	return l.searchBy(settings, func(load, duration float64) (outcome, error) {
		sent, lost, _ := lab.play(load, duration, forever)
		return outcome{sent, lost, duration + overhead}, nil
	})
}

// outcome is the result of a trial for the library: frames, and seconds with everything that the trial took.
type outcome struct {
	Sent int64   `json:"sent"`
	Lost int64   `json:"lost"`
	Took float64 `json:"took"`
}

// searchBy makes the library search for goals by trials that play carries out, each with a load and a duration
// in seconds.
func (l *library) searchBy(settings goals.Settings, play func(load, duration float64) (outcome,
	error)) (found []bracket, err error) {
	asked := map[string]any{"minLoad": settings.MinLoad, "maxLoad": settings.MaxLoad}
	var list []map[string]float64
	for _, g := range settings.Goals {
		list = append(list, map[string]float64{"lossRatio": g.LossRatio, "exceedRatio": g.ExceedRatio, "width": g.Width,
			"initialTrial": g.InitialTrial.Seconds(), "finalTrial": g.FinalTrial.Seconds(),
			"durationSum": g.DurationSum.Seconds()})
	}
	asked["goals"] = list
	if err := l.say(asked); err != nil {
		return nil, err
	}
	for {
		line, err := l.stdout.ReadBytes('\n')
		if err != nil {
			return nil, fmt.Errorf("read what the library asks: %w", err)
		}
		var heard answer
		if err := json.Unmarshal(line, &heard); err != nil {
			return nil, err
		}
		if heard.Results != nil {
			for _, r := range heard.Results {
				found = append(found, bracket{value(r.Lower), value(r.Upper)})
			}
			return found, nil
		}
		came, err := play(heard.Load, heard.Duration)
		if err != nil {
			return nil, err
		}
		if err := l.say(came); err != nil {
			return nil, err
		}
	}
}

func (l *library) say(document any) error {
	text, err := json.Marshal(document)
	if err != nil {
		return err
	}
	_, err = l.stdin.Write(append(text, '\n'))
	return err
}

func value(load *float64) float64 {
	if load == nil {
		return 0
	}
	return *load
}
