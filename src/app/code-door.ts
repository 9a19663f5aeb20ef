import { join } from 'node:path'
import type { Hono } from 'hono'
import type { Clock } from '../base/clock.ts'
import type { Log } from '../base/log.ts'
import { fileDeliveryLog } from '../doors/snippets/callbacks/file-delivery-log.ts'
import type { CallbackSettings } from '../doors/snippets/desk/desk-tools.ts'
import { snippetDesk } from '../doors/snippets/desk/engine-desk.ts'
import type { SnippetDesk } from '../doors/snippets/snippet-desk.ts'
import { snippetsDoor } from '../doors/snippets/snippets-door.ts'
import type { Engine } from '../engine/engine.ts'
import { findLanguage } from '../languages/find-language.ts'
import { loadLanguages } from '../languages/load-languages.ts'
import { snippetTask, snippetTaskUnder } from '../languages/snippet-task.ts'
import { nearest } from './config-nearest.ts'
import { languageFoldersHere } from './language-folders.ts'
import { newId } from './new-id.ts'
import type { Storage } from './storage.ts'
import { version } from './version.ts'

export interface CodeDoorOptions {
  readonly engine: Engine
  readonly storage: Pick<Storage, 'instances'>
  readonly clock: Clock
  readonly log: Log
  readonly dataDir: string
  /** Snippets may run with nothing between them and a worker's machine. */
  readonly allowsBare: boolean
  readonly ending: AbortSignal
  readonly callbacks?: Omit<CallbackSettings, 'log'>
}

export interface CodeDoor {
  /** To be hung on the HTTP door, before those whose routes match almost everything. */
  readonly door: Hono
  /** For other interfaces to run code. */
  readonly desk: SnippetDesk
  /** The name of a language that goes by this one. */
  canonicalLanguage(name: string): string
  /** Before the engine is closed. */
  close(): Promise<void>
}

/** Running code on this server: callbacks that were owed when it stopped are sent. */
export async function openCodeDoor(options: CodeDoorOptions): Promise<CodeDoor> {
  const { engine, storage, clock, log, dataDir, ending } = options
  const { instances } = storage
  const deliveries = await fileDeliveryLog(join(dataDir, 'callbacks', 'deliveries.jsonl'))
  const languages = loadLanguages(languageFoldersHere(dataDir).own)
  const desk = snippetDesk({
    engine,
    instances,
    languages,
    lower: options.allowsBare ? snippetTaskUnder({ least: 'none' }) : snippetTask,
    clock,
    newId: () => newId(clock.now),
    log,
    callbacks: { ...options.callbacks, log: deliveries },
  })
  return {
    desk,
    canonicalLanguage: (name) => findLanguage(languages, name)?.name ?? name,
    door: snippetsDoor({ desk, instances, clock, version: version(), ending, nearest, log }),
    async close() {
      desk.stop()
      await deliveries.close()
    },
  }
}
