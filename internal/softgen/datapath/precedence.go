package datapath

import (
	"errors"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
)

// precedence gives this process's session priority over all others while live threads send. Where the kernel groups ordinary threads by session (autogroup, sched(7)), it divides a processor
// among sessions first. A thread's nice value counts only within its session, so at nice -20 it still waits half of the time while a compiler runs in another terminal.
//
//	session of linerate   nice -20 ──┬─ live thread  nice -20
//	                                 └─ all else     nice 0
//	session of a compiler nice 0
type precedence struct {
	file       string
	processors int

	mutex   sync.Mutex
	threads int    // how many send
	before  string // the session's own nice value, while another one is set
}

// ahead is the precedence of this process.
var ahead = &precedence{file: "/proc/self/autogroup", processors: runtime.NumCPU()}

// leastNice is the highest priority.
const leastNice = "-20"

// add changes how many threads send. With a live thread on each processor the session gets no priority: otherwise nothing else on the machine would run, the device's own work included.
func (p *precedence) add(threads int) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	p.threads += threads
	switch first := p.threads > 0 && p.threads < p.processors; {
	case first && p.before == "":
		if nice := p.nice(); nice != "" && nice != leastNice && p.write(leastNice) == nil {
			p.before = nice
		}
	case !first && p.before != "":
		if p.write(p.before) == nil {
			p.before = ""
		}
	}
}

// nice is the session's value; empty where the kernel groups nothing by session.
func (p *precedence) nice() string {
	text, err := os.ReadFile(p.file) // "/autogroup-13 nice 0"
	if err != nil {
		return ""
	}
	_, nice, _ := strings.Cut(strings.TrimSpace(string(text)), " nice ")
	if _, err := strconv.Atoi(nice); err != nil {
		return ""
	}
	return nice
}

// write doesn't create the file: a kernel without it doesn't group by session.
func (p *precedence) write(nice string) error {
	f, err := os.OpenFile(p.file, os.O_WRONLY|os.O_TRUNC, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteString(nice)
	return errors.Join(err, f.Close())
}
