package findings

import "github.com/linerate-dev/linerate/internal/document/stream"

// valuesOf is how many values a variable of the field engine takes, 1 for other instructions.
func valuesOf(i stream.Instruction) int64 {
	switch i.Type {
	case "flow_var":
		if len(i.ValueList) > 0 {
			return int64(len(i.ValueList))
		}
		return rangeOf(i.MinValue, i.MaxValue, max(i.Step, 1))
	case "flow_var_rand_limit":
		return max(int64(i.Limit), 1)
	case "tuple_flow_var":
		values := rangeOf(uint64(i.IPMin), uint64(i.IPMax), 1) * rangeOf(uint64(i.PortMin), uint64(i.PortMax), 1)
		if i.LimitFlows > 0 {
			values = min(values, int64(i.LimitFlows))
		}
		return values
	}
	return 1
}

func rangeOf(low, high, step uint64) int64 {
	if high <= low {
		return 1
	}
	return int64((high-low)/step) + 1
}

// headerOf is what tells the flows of one template from those of another: the addresses and ports of the first packet,
// without the lengths and checksums that differ by frame size. It is the whole head of what is no IPv4 or IPv6.
func headerOf(frame []byte) string {
	at := 12
	for len(frame) >= at+2 && frame[at] == 0x81 && frame[at+1] == 0 {
		at += 4
	}
	part := func(from, to int) string {
		if from = min(from, len(frame)); to > len(frame) {
			to = len(frame)
		}
		return string(frame[from:max(from, to)])
	}
	switch ip := at + 2; {
	case len(frame) < ip+20:
		return part(0, at+2)
	case frame[at] == 8 && frame[at+1] == 0:
		length := int(frame[ip]&15) * 4
		return part(ip+9, ip+10) + part(ip+12, ip+20) + part(ip+length, ip+length+4)
	case frame[at] == 0x86 && frame[at+1] == 0xdd:
		return part(ip+6, ip+7) + part(ip+8, ip+44)
	}
	return part(0, at+2)
}
