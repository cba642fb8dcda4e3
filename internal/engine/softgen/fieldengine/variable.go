package fieldengine

import "math/bits"

// variable yields a field's value as a function of the frame's index. A variable with a driver advances only
// when the driver wraps, like the tens of an odometer.
//
//	frame      0  1  2  3  4  5  6  7  8
//	driver     a  b  c  a  b  c  a  b  c
//	next_var   └──k──┘  └──l──┘  └──m──┘
type variable struct {
	size   int // bytes: 1, 2, 4 or 8
	op     operation
	min    uint64
	span   uint64 // size of the range, a multiple of step for inc and dec
	step   uint64
	offset uint64 // position of the first value in the range, in the direction of op
	list   []uint64
	seed   uint64
	limit  uint64 // of rand_limit and tuples, the ticks after which values repeat; 0 without a limit
	driver *variable
}

type operation int

const (
	increment operation = iota
	decrement
	random
)

func (v *variable) value(index uint64) uint64 {
	position := v.position(v.tick(index))
	switch {
	case v.list != nil:
		return v.list[position]
	case v.op == decrement:
		return v.min + v.span - 1 - position
	default:
		return v.min + position
	}
}

// tick is how often the variable has advanced when this frame is made.
func (v *variable) tick(index uint64) uint64 {
	tick := index
	if v.driver != nil {
		tick = v.driver.wraps(index)
	}
	if v.limit > 0 {
		tick %= v.limit
	}
	return tick
}

func (v *variable) position(tick uint64) uint64 {
	if v.op == random {
		return reduce(scramble(v.seed+tick), v.span)
	}
	moved := tick % v.cycle() * v.step
	if rest := v.span - v.offset; moved >= rest {
		return moved - rest
	}
	return v.offset + moved
}

// cycle is after how many ticks the values of inc and dec repeat.
func (v *variable) cycle() uint64 { return max(v.span/v.step, 1) }

func (v *variable) wraps(index uint64) uint64 {
	tick := v.tick(index)
	if v.op == random {
		return tick / v.span
	}
	wraps := tick / v.cycle()
	if tick%v.cycle()*v.step >= v.span-v.offset {
		wraps++
	}
	return wraps
}

// period is after how many frames the variable repeats, or 0 if it practically never does.
func (v *variable) period() uint64 {
	ticks := v.cycle()
	switch {
	case v.limit > 0:
		ticks = v.limit
	case v.op == random && v.span > 1:
		return 0
	}
	switch {
	case v.driver == nil:
		return ticks
	case v.driver.limit > 0:
		return v.driver.period() // its ticks start over, and so do its wraps
	}
	return product(ticks, v.driver.period())
}

// scramble is the finalizer of SplitMix64 (Steele, Lea, Flood 2014). Consecutive inputs give
// independent-looking outputs.
func scramble(x uint64) uint64 {
	x *= 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// reduce maps a uniform x to [0, n) without a division.
func reduce(x, n uint64) uint64 {
	hi, _ := bits.Mul64(x, n)
	return hi
}

// longest is the longest period worth knowing. A longer one counts as none.
const longest = 1 << 32

func product(a, b uint64) uint64 {
	if a == 0 || b == 0 || a > longest/b {
		return 0
	}
	return a * b
}

func leastCommonMultiple(a, b uint64) uint64 {
	if a == 0 || b == 0 {
		return 0
	}
	x, y := a, b
	for y != 0 {
		x, y = y, x%y
	}
	return product(a/x, b)
}
