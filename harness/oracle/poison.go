package oracle

// Words of poison are float32 NaNs, which no exact integer result can equal.
// Those of outputs are signaling ones: IEEE 754 arithmetic only ever delivers
// quiet NaNs, so an output that still holds its poison was never written, and
// any other NaN was computed.
const (
	outputPoison = 0xff800000 // negative, exponent all ones, quiet bit clear
	payloads     = 1<<22 - 1  // payload 0 would be an infinity
	quietBit     = 1 << 22
	signBit      = 1 << 31
	infinity     = 0x7f800000
)

// InputPoison backs inputs before they are written. It is a quiet NaN, so that
// a GEMM which reads one missing element makes a whole row or column NaN,
// even where the other factor is zero.
const InputPoison uint32 = 0x7fe17e57

// poisonStep is coprime to payloads (3 * 23 * 89 * 683), so that consecutive
// buffers walk through every payload before one repeats, and are far apart.
const poisonStep = 2654435

// Poison returns the word that fills output buffer number buffer before it is
// written. Any 4,194,303 consecutive buffers have different words. A word
// equals no float32 that arithmetic can deliver and not InputPoison.
func Poison(buffer uint64) uint32 {
	return outputPoison | uint32(buffer%payloads*poisonStep%payloads+1)
}

func isNaN(word uint32) bool { return word&^signBit > infinity }

// fromInput reports whether a NaN carries the payload of InputPoison, which
// IEEE 754 recommends to pass on and x86 and AMD GPUs do.
func fromInput(word uint32) bool {
	return (word|quietBit)&^signBit == InputPoison
}
