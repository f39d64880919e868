package hip

import (
	"debug/elf"
	"encoding/binary"
	"encoding/hex"

	"rocstress/rocm"
)

// describe returns the Library of a mapped file. A file without a build id,
// or one that cannot be read any more, has none.
func describe(name, path string) rocm.Library {
	return rocm.Library{Name: name, Path: path, BuildID: buildID(path)}
}

// buildID returns the GNU build id of an ELF file in hex, or "". It reads the
// headers and the notes alone: rocBLAS libraries are up to 1 GB long.
func buildID(path string) string {
	f, err := elf.Open(path)
	if err != nil {
		return ""
	}
	defer func() { _ = f.Close() }() // nothing was written
	for _, p := range f.Progs {
		if p.Type != elf.PT_NOTE || p.Filesz > maxNotes {
			continue
		}
		notes := make([]byte, p.Filesz)
		if _, err := p.ReadAt(notes, 0); err != nil {
			continue
		}
		if id := gnuBuildID(notes, f.ByteOrder, p.Align); id != nil {
			return hex.EncodeToString(id)
		}
	}
	return ""
}

const (
	maxNotes    = 1 << 20 // bytes of one note segment; real ones hold some 100
	noteHeader  = 12      // namesz, descsz, type: Elf64_Nhdr of elf.h
	noteBuildID = 3       // NT_GNU_BUILD_ID of elf.h
)

// gnuBuildID finds the build id in a note segment: for each note a header, a
// name and a descriptor, the latter two padded to the segment's alignment.
func gnuBuildID(notes []byte, order binary.ByteOrder, align uint64) []byte {
	if align != 8 {
		align = 4
	}
	pad := func(n uint64) uint64 { return (n + align - 1) / align * align }
	for uint64(len(notes)) >= noteHeader {
		nameSize, descSize := uint64(order.Uint32(notes)), uint64(order.Uint32(notes[4:]))
		kind := order.Uint32(notes[8:])
		// Aligned from the start of the note, so a header of 12 bytes and
		// the name "GNU" are followed by the descriptor in both alignments.
		desc := pad(noteHeader + nameSize)
		next := pad(desc + descSize)
		if desc+descSize > uint64(len(notes)) {
			return nil
		}
		if kind == noteBuildID && string(notes[noteHeader:noteHeader+nameSize]) == "GNU\x00" {
			return notes[desc : desc+descSize]
		}
		notes = notes[min(next, uint64(len(notes))):]
	}
	return nil
}
