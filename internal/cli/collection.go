package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/linerate-dev/linerate/internal/document/intake"
	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/host/bounded"
	"github.com/linerate-dev/linerate/internal/host/outfile"
	"github.com/linerate-dev/linerate/internal/run/runner"
)

// These bound what a test collects: of each command or file, and together.
const (
	maxCollectedItem = 4 << 20
	maxCollected     = 64 << 20
)

// collection carries out a Plan's dut.collect:
//
//	setup ── Before ── windows … During … windows ── After ── teardown
//
// During is collected once, beside the traffic, and ended when the load ends. All else happens while nothing is sent. A
// collection that fails leaves a line in the Report, and the run goes on.
type collection struct {
	plan *plan.Plan
	// folder gets each content, under its digest. It is empty where nothing is kept.
	folder string
	stderr io.Writer

	mu        sync.Mutex // guards what follows: During collects beside the run
	collected []report.Collected
	bytes     int64

	loaded   bool
	endLoad  func()
	underWay sync.WaitGroup
}

// collectedFolder is the folder in that of --save with what was collected.
const collectedFolder = "collected"

func newCollection(stderr io.Writer, p *plan.Plan, save string) *collection {
	c := &collection{plan: p, stderr: stderr}
	if save != "" {
		c.folder = filepath.Join(save, collectedFolder)
	} else if len(p.DUT.Collect) > 0 {
		fmt.Fprintf(stderr, "%s: dut.collect: --save is empty, so only digests of what is collected are kept\n",
			p.Test.Name)
	}
	return c
}

// collect collects what belongs to a moment: before, during or after the load.
func (c *collection) collect(ctx context.Context, moment string) {
	for _, item := range c.plan.DUT.Collect {
		if !slices.Contains(item.When, moment) {
			continue
		}
		if len(item.Command) > 0 {
			c.add(item, moment, "", func() ([]byte, bool, error) {
				return bounded.Output(ctx, item.Command, testVariables(c.plan), item.Timeout.Std(), maxCollectedItem)
			})
		}
		for _, path := range item.Paths {
			c.add(item, moment, path, func() ([]byte, bool, error) {
				if ctx.Err() != nil {
					return nil, false, context.Cause(ctx)
				}
				return readCollected(path)
			})
		}
	}
}

// readCollected is a file's beginning. Only regular files are read, as a device or pipe may never end, or answer.
func readCollected(path string) (content []byte, cut bool, err error) {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return nil, false, err
	case !info.Mode().IsRegular():
		return nil, false, fmt.Errorf("%s is no regular file: give a command that prints what is wanted", path)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, false, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	content, err = intake.Text(io.LimitReader(f, maxCollectedItem+1), maxCollectedItem+1)
	if cut = len(content) > maxCollectedItem; cut {
		content = content[:maxCollectedItem]
	}
	return content, cut, err
}

// add fetches one content, and keeps it.
func (c *collection) add(item plan.Collection, moment, path string, fetch func() ([]byte, bool, error)) {
	entry := report.Collected{Name: item.Name, When: moment, Path: path, Time: time.Now()}
	content, cut, err := fetch()
	entry.Duration = plan.Duration(time.Since(entry.Time))
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.bytes+int64(len(content)) > maxCollected:
		err = fmt.Errorf("a test collects up to %d MiB together", maxCollected>>20)
	case err == nil || len(content) > 0:
		c.bytes += int64(len(content))
		entry.Bytes, entry.SHA256, entry.Cut = int64(len(content)), report.Digest(content), cut
		err = errors.Join(err, c.keep(entry.SHA256, content))
	}
	if err != nil {
		entry.Missing = strings.ReplaceAll(err.Error(), "\n", "; ")
		fmt.Fprintf(c.stderr, "%s: dut.collect %s: %s: %s\n", c.plan.Test.Name, item.Name, moment, entry.Missing)
	}
	c.collected = append(c.collected, entry)
}

// keep writes a content. What is collected may have secrets, so nobody but the owner reads it.
func (c *collection) keep(digest string, content []byte) error {
	if c.folder == "" {
		return nil
	}
	if err := os.MkdirAll(c.folder, 0o700); err != nil {
		return err
	}
	return outfile.Write(filepath.Join(c.folder, collectedName(digest)), content, outfile.ForOwner)
}

// collectedName is the file's name of a content.
func collectedName(digest string) string { return strings.TrimPrefix(digest, "sha256:") }

// progress watches the run for the load that During belongs to.
func (c *collection) progress(ctx context.Context, p runner.Progress) {
	switch {
	case slices.Contains([]report.Phase{runner.Preparing, runner.Proving, runner.Listening, report.WarmUp}, p.Phase):
		return
	case p.Phase == runner.Draining || p.Phase == runner.Ended:
		if c.endLoad != nil {
			c.endLoad()
		}
		return
	}
	if c.loaded || p.OfferedPacketsPerSecond == 0 && p.GoodputBitsPerSecond == nil {
		return
	}
	c.loaded = true
	ctx, end := context.WithCancelCause(ctx)
	c.endLoad = func() { end(errLoadEnded) }
	c.underWay.Go(func() { c.collect(ctx, plan.CollectDuring) })
}

// errLoadEnded is why something wasn't collected during the load.
var errLoadEnded = errors.New("the load ended first")

// finish waits for what is collected, collects what belongs after the load, and adds all to the Report.
func (c *collection) finish(ctx context.Context, r *report.Report) {
	if c.endLoad != nil {
		c.endLoad()
	}
	c.underWay.Wait()
	if !c.loaded {
		for _, item := range c.plan.DUT.Collect {
			if slices.Contains(item.When, plan.CollectDuring) {
				c.collected = append(c.collected, report.Collected{Name: item.Name, When: plan.CollectDuring,
					Time: time.Now(), Missing: "no load was held"})
			}
		}
	}
	c.collect(ctx, plan.CollectAfter)
	r.Collected = c.collected
}
