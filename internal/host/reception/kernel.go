package reception

import (
	"encoding/binary"
	"io/fs"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/vishvananda/netlink"
	"github.com/vishvananda/netlink/nl"
	"golang.org/x/sys/unix"

	"github.com/linerate-dev/linerate/internal/host/ethtool"
)

// list is a mask of processors, such as "00000000,0000000d", as a list, "0,2-3". It is empty for none.
func list(mask string) string {
	var numbers []int
	words := strings.Split(mask, ",")
	for i, word := range words {
		bits, err := strconv.ParseUint(word, 16, 32)
		if err != nil {
			return ""
		}
		for bit := range 32 {
			if bits>>bit&1 == 1 {
				numbers = append(numbers, 32*(len(words)-1-i)+bit)
			}
		}
	}
	slices.Sort(numbers)
	var parts []string
	for i := 0; i < len(numbers); {
		end := i
		for end+1 < len(numbers) && numbers[end+1] == numbers[end]+1 {
			end++
		}
		part := strconv.Itoa(numbers[i])
		if end > i {
			part += "-" + strconv.Itoa(numbers[end])
		}
		parts, i = append(parts, part), end+1
	}
	return strings.Join(parts, ",")
}

// interrupt is a line of /proc/interrupts.
type interrupt struct {
	number int
	name   string
	counts []uint64
}

func interruptsOf(proc fs.FS) (list []interrupt) {
	lines := strings.Split(text(proc, "interrupts"), "\n")
	processors := len(strings.Fields(lines[0]))
	for _, line := range lines[1:] {
		fields := strings.Fields(line)
		if len(fields) < processors+2 {
			continue
		}
		number, err := strconv.Atoi(strings.TrimSuffix(fields[0], ":"))
		if err != nil {
			continue // one of a processor's own
		}
		i := interrupt{number: number, name: fields[len(fields)-1]}
		for _, field := range fields[1 : 1+processors] {
			count, err := strconv.ParseUint(field, 10, 64)
			if err != nil {
				return list
			}
			i.counts = append(i.counts, count)
		}
		list = append(list, i)
	}
	return list
}

// isOf says that the interrupt has the name that drivers give one of this receive queue, such as eth0-TxRx-3.
func (i interrupt) isOf(name string, queue int) bool {
	rest, found := strings.CutPrefix(i.name, name+"-")
	if !found {
		return false
	}
	kind, number, found := cutLast(rest, "-")
	if !found {
		return rest == strconv.Itoa(queue)
	}
	return number == strconv.Itoa(queue) && !strings.EqualFold(kind, "tx")
}

func cutLast(s, separator string) (head, tail string, found bool) {
	if i := strings.LastIndex(s, separator); i >= 0 {
		return s[:i], s[i+1:], true
	}
	return s, "", false
}

// The family "netdev" (include/uapi/linux/netdev.h, Linux 6.8).
const (
	queueGet, queueID, queueInterface, queueType, queueNAPI                         = 10, 1, 2, 3, 4
	napiGet, napiInterface, napiID, napiInterrupt, napiThread                       = 11, 1, 2, 3, 4
	countsGet, countsInterface, countsType, countsQueue, countsScope, countsReceive = 12, 1, 2, 3, 4, 8

	typeReceive, scopeQueue = 0, 1
)

// poller is who takes frames from a queue: the id of its NAPI, its interrupt, and its thread. 0 is none.
type poller struct{ id, interrupt, thread int }

// pollersOf are an interface's, by receive queue. A driver that doesn't say which NAPI a queue has makes them in the
// queues' order.
func pollersOf(index, queues int) map[int]poller {
	var pollers []poller
	for _, a := range dump(napiGet, napiInterface, index) {
		if a.number(napiInterface) == index {
			pollers = append(pollers, poller{a.number(napiID), a.number(napiInterrupt), a.number(napiThread)})
		}
	}
	slices.SortFunc(pollers, func(a, b poller) int { return a.id - b.id })
	byQueue := map[int]poller{}
	for _, a := range dump(queueGet, queueInterface, index) {
		i := slices.IndexFunc(pollers, func(p poller) bool { return p.id == a.number(queueNAPI) && p.id > 0 })
		if a.number(queueInterface) == index && a.number(queueType) == typeReceive && i >= 0 {
			byQueue[a.number(queueID)] = pollers[i]
		}
	}
	if len(byQueue) == 0 && len(pollers) == queues {
		for n, p := range pollers {
			byQueue[n] = p
		}
	}
	return byQueue
}

// countersByQueue are the names that drivers give the counter of a receive queue's frames.
var countersByQueue = regexp.MustCompile(
	`^(?:rx_queue_(\d+)_(?:xdp_)?packets|rx(\d+)_packets|rx-(\d+)\.(?:rx_)?packets|queue_(\d+)_rx_cnt)$`)

// framesByQueue are what the driver counts by receive queue.
func framesByQueue(name string, index int) map[int]uint64 {
	frames := map[int]uint64{}
	for _, a := range dump(countsGet, countsInterface, index, attribute{countsScope, scopeQueue}) {
		value := a[countsReceive]
		_, isQueue := a[countsQueue]
		if a.number(countsInterface) == index && a.number(countsType) == typeReceive && isQueue && len(value) > 0 {
			frames[a.number(countsQueue)] = a.long(countsReceive)
		}
	}
	if len(frames) > 0 {
		return frames
	}
	counters, err := ethtool.Counters(name)
	if err != nil {
		return nil
	}
	for counter, value := range counters {
		if m := countersByQueue.FindStringSubmatch(counter); m != nil {
			queue, err := strconv.Atoi(m[1] + m[2] + m[3] + m[4])
			if err == nil {
				frames[queue] = value
			}
		}
	}
	return frames
}

// attributes are those of one answer, by type.
type attributes map[uint16][]byte

func (a attributes) number(t uint16) int { return int(a.long(t)) }

func (a attributes) long(t uint16) uint64 {
	switch value := a[t]; {
	case len(value) >= 8:
		return binary.NativeEndian.Uint64(value)
	case len(value) >= 4:
		return uint64(binary.NativeEndian.Uint32(value))
	}
	return 0
}

type attribute struct {
	kind  uint16
	value uint32
}

// head is struct genlmsghdr, with the reserved bytes zero, which the kernel demands (nl.Genlmsg leaves them unset).
type head [4]byte

// Len is the header's length.
func (h head) Len() int { return len(h) }

// Serialize is the header as it is sent.
func (h head) Serialize() []byte { return h[:] }

// answersWithin is how long the kernel may take for an answer, which it has at once.
const answersWithin = 1 // s

// dump asks netdev for all of an interface. A kernel without the family, or without the command, has none. Its
// messages lack NLM_F_MULTI, so that NetlinkRequest.Execute would return the first one alone.
func dump(command uint8, interfaceKind uint16, index int, filters ...attribute) (answers []attributes) {
	family, err := netlink.GenlFamilyGet("netdev")
	if err != nil {
		return nil
	}
	request := nl.NewNetlinkRequest(int(family.ID), unix.NLM_F_DUMP)
	request.AddData(head{command, 1})
	for _, a := range append(filters, attribute{interfaceKind, uint32(index)}) {
		request.AddData(nl.NewRtAttr(int(a.kind), binary.NativeEndian.AppendUint32(nil, a.value)))
	}
	socket, err := nl.Subscribe(unix.NETLINK_GENERIC)
	if err != nil {
		return nil
	}
	defer socket.Close()
	if socket.SetReceiveTimeout(&unix.Timeval{Sec: answersWithin}) != nil || socket.Send(request) != nil {
		return nil
	}
	for {
		messages, _, err := socket.Receive()
		if err != nil {
			return nil
		}
		for _, m := range messages {
			switch {
			case m.Header.Seq != request.Seq:
			case m.Header.Type == unix.NLMSG_DONE, m.Header.Type == unix.NLMSG_ERROR:
				return answers
			case len(m.Data) >= nl.SizeofGenlmsg:
				answers = append(answers, attributesOf(m.Data[nl.SizeofGenlmsg:]))
			}
		}
	}
}

// attributesOf reads attributes. What is cut off reads as missing.
func attributesOf(b []byte) attributes {
	found := attributes{}
	parsed, err := nl.ParseRouteAttr(b)
	if err != nil {
		return found
	}
	for _, p := range parsed {
		found[p.Attr.Type&nl.NLA_TYPE_MASK] = p.Value
	}
	return found
}
