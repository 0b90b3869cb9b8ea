package inputlog

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"hash/crc32"
)

// Every line ends with a checksum, as the last field of its object: CRC-32C of everything before
// that field, begun with the checksum of the line before. So no byte of a log changes, and no line
// is lost, moved or given twice, without being noticed; most of that the digests cannot tell. It
// guards against accidents, not against people, who can compute it as well.
const (
	sumStart  = `,"sum":"`
	sumEnd    = `"}`
	sumDigits = 2 * crc32.Size
)

var (
	castagnoli = crc32.MakeTable(crc32.Castagnoli)

	errNoSum    = errors.New("it does not end with a checksum, which version 1.1 demands")
	errWrongSum = errors.New("its checksum is wrong: it was changed, or a line before it is missing")
)

// appendSummed appends a JSON object to lines, with its checksum as another field.
func appendSummed(lines, object []byte, previous uint32) ([]byte, uint32) {
	content := object[:len(object)-len("}")]
	sum := crc32.Update(previous, castagnoli, content)
	lines = append(append(lines, content...), sumStart...)
	lines = hex.AppendEncode(lines, binary.BigEndian.AppendUint32(nil, sum))
	return append(lines, sumEnd...), sum
}

// cutSum is the inverse; false where there is no checksum.
func cutSum(line []byte) (content []byte, sum uint32, found bool) {
	length := len(line) - len(sumStart) - sumDigits - len(sumEnd)
	if length < 0 {
		return nil, 0, false
	}
	content, field := line[:length], line[length:]
	start, digits, end := field[:len(sumStart)],
		field[len(sumStart):len(sumStart)+sumDigits], field[len(sumStart)+sumDigits:]
	if string(start) != sumStart || string(end) != sumEnd || !isLowerHex(digits) {
		return nil, 0, false
	}
	var decoded [crc32.Size]byte
	_, _ = hex.Decode(decoded[:], digits)
	return content, binary.BigEndian.Uint32(decoded[:]), true
}

// checkSum gives the checksum of a line. A log of version 1.0 has none; where there is one all the
// same, it has to fit.
func checkSum(line []byte, previous uint32, demanded bool) (uint32, error) {
	content, sum, found := cutSum(line)
	switch {
	case !found && demanded:
		return 0, errNoSum
	case found && sum != crc32.Update(previous, castagnoli, content):
		return 0, errWrongSum
	}
	return sum, nil
}

// lastSum gives the checksum of the last of some lines; the one before them if they have none.
func lastSum(lines []byte, before uint32) uint32 {
	lines = bytes.TrimSuffix(lines, []byte("\n"))
	if _, sum, found := cutSum(lines[bytes.LastIndexByte(lines, '\n')+1:]); found {
		return sum
	}
	return before
}

// isLowerHex reports whether the text has no other characters than the digits that the writer uses.
func isLowerHex(text []byte) bool {
	for _, c := range text {
		if (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return true
}
