import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import type { Hono } from 'hono'
import { addressRules, anyAddress } from '../../base/address-rules.ts'
import type { Clock } from '../../base/clock.ts'
import type { Log } from '../../base/log.ts'
import { JUDGE0_FORM, judge0Form } from '../../doors/http/judge0/callback.ts'
import { judge0Door } from '../../doors/http/judge0/door.ts'
import { pistonDoor } from '../../doors/http/piston/door.ts'
import { playgroundDoor } from '../../doors/http/playground/playground-door.ts'
import type { WebSocketRoute } from '../../doors/http/server/web-sockets.ts'
import { callbackBody } from '../../doors/http/snippets/callback-body.ts'
import { snippetsDoor } from '../../doors/http/snippets/door.ts'
import { pistonConnect } from '../../doors/websocket/piston/door.ts'
import { interactiveDoor } from '../../doors/websocket/snippets/door.ts'
import type { LocalEngine } from '../../engine/engine.ts'
import { findLanguage } from '../../languages/find-language.ts'
import { loadLanguages } from '../../languages/load-languages.ts'
import { snippetTaskUnder } from '../../languages/snippet-task.ts'
import { LOCAL_CALLER } from '../../model/caller.ts'
import type { NetworkGrants } from '../../model/properties/network-grants.ts'
import type { CallScope } from '../../services/instances/call-scope.ts'
import { fileDeliveryLog } from '../../services/snippets/callbacks/file-delivery-log.ts'
import { grantingNetwork, snippetService } from '../../services/snippets/engine-snippets.ts'
import type { Config } from '../config/config.ts'
import { languageFoldersHere } from '../process/language-folders.ts'
import { idsBy } from '../process/new-id.ts'
import { ownAddresses } from '../process/own-addresses.ts'
import { version } from '../process/version.ts'
import { serverSecret, stageSalt } from './server-secret.ts'
import type { Storage } from './storage.ts'

export interface CodeDoorOptions {
  readonly engine: LocalEngine
  readonly storage: Pick<Storage, 'instances'>
  readonly clock: Clock
  readonly log: Log
  readonly dataDir: string
  readonly settings: Config['snippets']
  /** The instance of callers: the APIs that run code have no field for instances. */
  readonly instance: string
  readonly maxQueueSize: number
  readonly grants: NetworkGrants
  /** Non-public addresses that callbacks may reach. */
  readonly reach: readonly string[]
  readonly ending: AbortSignal
  /** Aborted when the server stops accepting tasks; `ending` follows. */
  readonly draining: AbortSignal
  /** How long a request waits for a language that a worker is still testing. */
  readonly noWorkerGraceMs: number
  readonly isWorkerComing?: (() => boolean) | undefined
  /** The key that signs callbacks; read at each delivery, because a reload may change it. */
  readonly callbackSecret?: (() => string | undefined) | undefined
}

/** All APIs that run code on this server. */
export interface CodeDoor {
  /** Routes for the HTTP server, before those whose patterns match almost everything. */
  readonly doors: readonly Hono[]
  readonly sockets: readonly WebSocketRoute[]
  /** Resolves an alias to the name of a language. */
  canonicalLanguage(name: string): string
  /** Called before the engine is closed. */
  close(): Promise<void>
}

/** Sends callbacks that were pending when the server stopped. */
export async function openCodeDoor(options: CodeDoorOptions): Promise<CodeDoor> {
  const { engine, storage, clock, log, dataDir, settings, maxQueueSize, grants, reach, ending } = options
  const { draining, noWorkerGraceMs, isWorkerComing } = options
  const { instances } = storage
  const deliveries = await fileDeliveryLog(join(dataDir, 'callbacks', 'deliveries.jsonl'))
  const languages = loadLanguages(languageFoldersHere(dataDir).own)
  const { callbacks_to_private_addresses: mayBePrivate } = settings
  const { callbackSecret = () => settings.callback_secret } = options
  const addresses = mayBePrivate ? anyAddress : addressRules({ reach, own: ownAddresses })
  const service = snippetService({
    engine,
    instances,
    languages,
    lower: snippetTaskUnder({ salt: stageSalt(serverSecret(dataDir)), ...(settings.allow_bare && { least: 'none' }) }),
    clock,
    newId: idsBy(clock),
    log,
    draining,
    noWorkerGraceMs,
    ...(isWorkerComing && { isWorkerComing }),
    callbacks: {
      get secret() {
        return callbackSecret()
      },
      addresses,
      log: deliveries,
      body: callbackBody,
      forms: { [JUDGE0_FORM]: judge0Form({ instances }) },
    },
  })
  const rest = grantingNetwork(service, 'rest', grants)
  const scopeOf = (): CallScope => ({ caller: LOCAL_CALLER, instance: options.instance })
  const common = { service: rest, instances, scopeOf, clock, log, ending, version: version() }
  const live = { service: rest, scopeOf, clock, log, ending, input: engine.input }
  return {
    doors: [
      snippetsDoor(common),
      pistonDoor(common),
      judge0Door({
        ...common,
        service: grantingNetwork(service, 'judge0', grants),
        figures: engine.figures,
        callbacks: { addresses },
        mayUseNetwork: (instance) => grants('judge0', instance),
        limits: { mostQueued: maxQueueSize },
      }),
      playgroundDoor({ languages, newNonce: () => randomBytes(16).toString('base64') }),
    ],
    sockets: [interactiveDoor(live), ...pistonConnect(live)],
    canonicalLanguage: (name) => findLanguage(languages, name)?.name ?? name,
    async close() {
      service.close()
      await deliveries.close()
    },
  }
}
