/** The flags of a record. The journal stores the low four; the high four are valid until the store is closed. */
export const BLOB_FLAGS = {
  /** The blob is stored as zstd. */
  zstd: 0x01,
  /** The checksums were correct at a read since the store was opened. */
  checked: 0x10,
  /** Written to the pack, but not synced yet. */
  unsynced: 0x20,
} as const

export const KEPT_FLAGS = 0x0f
