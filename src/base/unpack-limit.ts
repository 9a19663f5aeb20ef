/**
 * How much a packed blob may unpack to. 256 KiB of zstd can stand for 8 GiB, and unpacking and hashing those takes
 * many seconds of processor time. A blob of at most 256 MiB may have any ratio, because images of empty disks are
 * legitimate and compress by a factor of 30,000. A larger blob is refused as soon as it has unpacked to more than
 * 64 MiB and 1,000 times the packed bytes that were read so far.
 */
const ANY_RATIO_BYTES = 256 * 1024 * 1024
const FREE_BYTES = 64 * 1024 * 1024
const MOST_RATIO = 1000

/** `size` is that of the digest, which is checked elsewhere. */
export const mayUnpackTo = (unpacked: number, packed: number, size: number): boolean =>
  size <= ANY_RATIO_BYTES || unpacked <= FREE_BYTES + MOST_RATIO * packed
