import type { DigestFunction, DigestList } from '../../base/digest.ts'
import { MessageReader } from '../messages/message-reader.ts'
import { DigestListReader, PendingDigest } from './digest-reader.ts'

/** Bytes of a Tree that are read between two pauses: about 3 ms of work. */
const SLICE_BYTES = 1024 * 1024

/**
 * What Directory and Tree messages refer to, gathered over any number of them, without an object for each node: only
 * the digests are read, everything else is stepped over. The bytes come from the CAS, where anybody may have put
 * anything, so they are read as strictly as a request.
 */
export class References {
  private readonly files: DigestListReader
  private readonly directories: DigestListReader
  private readonly pending = new PendingDigest()
  private readonly fn: DigestFunction

  /** One function for all, that of the action: a tree does not mix them. */
  constructor(fn: DigestFunction) {
    this.fn = fn
    this.files = new DigestListReader(fn)
    this.directories = new DigestListReader(fn)
  }

  addDirectory(bytes: Uint8Array): void {
    this.readDirectory(new MessageReader(bytes, 'Directory'))
  }

  /**
   * The files of all directories in it. Those directories are part of the message, and need not be blobs. Yields after
   * every slice: a Tree may have 64 MiB, and other calls must not wait until all of it is read.
   */
  *addTree(bytes: Uint8Array): Generator<void, void> {
    const reader = new MessageReader(bytes, 'Tree')
    let paused = 0
    while (reader.next()) {
      if (reader.field !== 1 && reader.field !== 2) reader.skip()
      else {
        const outer = reader.enter()
        this.readDirectory(reader)
        reader.leave(outer)
      }
      if (reader.at - paused < SLICE_BYTES) continue
      paused = reader.at
      yield
    }
  }

  /** In the order in which they were found, repeats included. */
  fileDigests(): DigestList {
    return this.files.list(this.fn)
  }

  directoryDigests(): DigestList {
    return this.directories.list(this.fn)
  }

  private readDirectory(reader: MessageReader): void {
    while (reader.next()) {
      if (reader.field === 1) this.readNode(reader, this.files)
      else if (reader.field === 2) this.readNode(reader, this.directories)
      else reader.skip()
    }
  }

  /** FileNode and DirectoryNode alike have their digest in field 2. */
  private readNode(reader: MessageReader, into: DigestListReader): void {
    this.pending.clear()
    const outer = reader.enter()
    while (reader.next()) {
      if (reader.field === 2) this.pending.merge(reader)
      else reader.skip()
    }
    into.add(this.pending, reader)
    reader.leave(outer)
  }
}

export function directoryReferences(bytes: Uint8Array, fn: DigestFunction): References {
  const references = new References(fn)
  references.addDirectory(bytes)
  return references
}

export function treeReferences(bytes: Uint8Array, fn: DigestFunction): References {
  const references = new References(fn)
  for (const _ of references.addTree(bytes));
  return references
}
