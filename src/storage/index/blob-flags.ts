/** The flags of a record. The journal stores the low four; the high four are valid until the store is closed. */
export const BLOB_FLAGS = {
  /** Stored as zstd, not as it is. */
  zstd: 0x01,
  /** Its checksums were right when it was read since the store was opened. */
  checked: 0x10,
  /** Written to the pack, but not yet known to be on the disk. */
  unsynced: 0x20,
} as const

export const KEPT_FLAGS = 0x0f
