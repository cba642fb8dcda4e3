package fieldengine

import "encoding/binary"

// write puts a variable's value into the frame.
type write struct {
	variable *variable
	offset   int
	width    int
	add      uint64
	little   bool
	masked   bool
	mask     uint64
	shift    int
}

func (w *write) apply(index uint64, frame []byte) {
	value := w.variable.value(index) + w.add
	field := frame[w.offset : w.offset+w.width]
	if w.masked {
		value = load(field, w.little)&^w.mask | shifted(value, w.shift)&w.mask
	}
	store(field, value, w.little)
}

func shifted(value uint64, bits int) uint64 {
	if bits < 0 {
		return value >> -bits
	}
	return value << bits
}

func load(field []byte, little bool) uint64 {
	var order binary.ByteOrder = binary.BigEndian
	if little {
		order = binary.LittleEndian
	}
	switch len(field) {
	case 1:
		return uint64(field[0])
	case 2:
		return uint64(order.Uint16(field))
	case 4:
		return uint64(order.Uint32(field))
	default:
		return order.Uint64(field)
	}
}

func store(field []byte, value uint64, little bool) {
	if little {
		for i := range field {
			field[i] = byte(value >> (8 * i))
		}
		return
	}
	switch len(field) {
	case 1:
		field[0] = byte(value)
	case 2:
		binary.BigEndian.PutUint16(field, uint16(value))
	case 4:
		binary.BigEndian.PutUint32(field, uint32(value))
	default:
		binary.BigEndian.PutUint64(field, value)
	}
}
