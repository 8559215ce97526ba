// SPDX-License-Identifier: Apache-2.0

// Package framed is the format of files of state: frames with checksums, behind a first line
// that names what the file contains and the version of that.
//
// [Content.Replace] and [Content.Read] are for a file that is replaced as a whole. [Content.Header]
// and [Writer] are for one to which frames are appended, and [Content.ParseLog] for reading it.
//
// All numbers are little endian, all checksums CRC-32C.
//
//	header   "pnagent NAME VERSION\n"
//	         8 bytes  an id of this file, such as the time of its creation
//	         4        checksum of the header up to here: the seed
//	frame    4        length of the payload
//	         1        kind, 1 to 255; 0 is the end of the file
//	         4        checksum of the payload, started with the seed
//	         4        checksum of these 9 bytes, started with the seed
//	         the payload
//
// The invariant: what a reader returns was written, in this order and into this file. Frames of
// another file, also those inside of a payload, have other checksums because of the id. Damage is a
// [DamagedError], in all files: "damaged at byte 17: the checksum of a frame is wrong".
//
// A file that is replaced ends with an end frame, so a part of it is damage. A log has none
// while a process appends to it. A crash in the middle of an append leaves a torn tail, at which
// ParseLog stops. That needs two things of the writer: each append is one frame, and it is synced
// before the next append. Then only the last frame can be torn, so a frame that cannot be read
// before one that can is damage.
package framed
