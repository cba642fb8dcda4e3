package machine

import (
	"errors"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
)

// precedence gives this process's session priority over others while it measures. Where the kernel groups ordinary
// threads by session (autogroup, sched(7)), it divides a processor among sessions first. A thread's nice value
// counts only within its session, so a sending thread at nice -20 still waits half of the time while a compiler
// runs in another terminal. The kernel's threads that forward are in no session and at nice -20. Beside them, a
// session at nice 0 gets a hundredth of a processor. Where generator and device fill all processors, a generator
// would not answer for seconds.
//
//	the kernel's threads that forward  nice -20
//	session of a generator             nice -20 ──┬─ live thread  nice -20
//	                                              └─ all else     nice 0
//	session of who asks and judges     nice -10   a tenth of a processor
//	session of a compiler              nice 0
type precedence struct {
	file       string
	processors int

	mutex     sync.Mutex
	senders   int // threads, or groups of them, that send
	full      int // those that keep a processor busy
	askers    int
	set       int // the nice value that this process gave the session, 0 for none
	inherited int // the session's own, while it has another one
}

// ahead is the precedence of this process.
var ahead = &precedence{file: "/proc/self/autogroup", processors: runtime.NumCPU()}

// The sessions' nice values.
const (
	niceOfSenders = -20 // the highest priority
	// as little as suffices to ask for counters and to judge them, as other programs of the user may be in the same
	// session
	niceOfAskers = -10
)

// SendFirst gives this process's session priority over all others until done is called, for threads that send. As
// all functions here it may be called by several at the same time, and does nothing without CAP_SYS_NICE, or where
// the kernel groups nothing by session.
func SendFirst() (release func()) { return ahead.claim(1, 0, 0) }

// FillFirst is SendFirst for a thread that keeps a processor busy. While there is such a thread for each processor,
// these threads get no priority, since otherwise nothing else on the machine would run, the device's own work
// included.
func FillFirst() (release func()) { return ahead.claim(1, 1, 0) }

// AskFirst gives this process's session as much priority until done is called as it needs to be heard beside
// generators and devices that use all processors.
func AskFirst() (release func()) { return ahead.claim(0, 0, 1) }

func (p *precedence) claim(senders, full, askers int) (release func()) {
	p.change(senders, full, askers)
	return func() { p.change(-senders, -full, -askers) }
}

func (p *precedence) change(senders, full, askers int) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	p.senders, p.full, p.askers = p.senders+senders, p.full+full, p.askers+askers
	p.give(p.wanted())
}

// give gives the session a nice value, or its own one again where 0 is wanted. One that has more priority of its
// own keeps it.
func (p *precedence) give(wanted int) {
	if wanted == p.set {
		return
	}
	if p.set == 0 {
		inherited, ok := p.nice()
		if !ok || inherited <= wanted {
			return
		}
		p.inherited = inherited
	}
	value := p.inherited
	if wanted != 0 {
		value = min(wanted, p.inherited)
	}
	if p.write(strconv.Itoa(value)) == nil {
		p.set = wanted
	}
}

// wanted is the nice value that the session should have, or 0 for its own.
func (p *precedence) wanted() int {
	switch {
	case p.senders > 0 && p.full < p.processors:
		return niceOfSenders
	case p.askers > 0:
		return niceOfAskers
	}
	return 0
}

// nice is the session's value. ok is false where the kernel groups nothing by session.
func (p *precedence) nice() (nice int, ok bool) {
	text, err := os.ReadFile(p.file) // "/autogroup-13 nice 0"
	if err != nil {
		return 0, false
	}
	_, value, _ := strings.Cut(strings.TrimSpace(string(text)), " nice ")
	nice, err = strconv.Atoi(value)
	return nice, err == nil
}

// write doesn't create the file, because a kernel without the file doesn't group by session.
func (p *precedence) write(nice string) error {
	f, err := os.OpenFile(p.file, os.O_WRONLY|os.O_TRUNC, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteString(nice)
	return errors.Join(err, f.Close())
}
