import type { AddressRules } from '../../base/address-rules.ts'
import type { Clock } from '../../base/clock.ts'
import type { Log } from '../../base/log.ts'
import type { LocalEngine } from '../../engine/engine.ts'
import type { SnippetLowering } from '../../languages/snippet-task.ts'
import type { Language } from '../../model/language.ts'
import type { SnippetStatus } from '../../model/snippet.ts'
import type { BlobStore } from '../../storage/blob-store.ts'
import type { Instances } from '../instances/instances.ts'
import type { AwaitedLanguages } from './awaited-languages.ts'
import type { CallbackForms } from './callback-form.ts'
import type { DeliveryLog } from './callbacks/delivery-log.ts'
import type { CodeDurations } from './durations.ts'
import type { LiveOffers } from './live-offers.ts'
import type { SnippetViews } from './snippet-view.ts'

export interface SnippetServiceOptions {
  readonly engine: LocalEngine
  readonly instances: Instances
  readonly languages: readonly Language[]
  /** Converts a request to commands: code, files and limits in the form that the language needs. */
  readonly lower: SnippetLowering
  readonly clock: Clock
  /** Ids that cannot be guessed, in ascending order. */
  readonly newId: () => string
  readonly log?: Log
  readonly callbacks?: CallbackSettings
  /** How long a request waits for a language that a worker is still testing; 60 s unless given. */
  readonly noWorkerGraceMs?: number
  /** Whether a worker is about to connect, whose languages are not known yet; none unless given. */
  readonly isWorkerComing?: () => boolean
  /** Aborted when the server stops accepting tasks. */
  readonly draining?: AbortSignal
}

export interface CallbackSettings {
  readonly log: DeliveryLog
  /** The key that signs deliveries of requests without an own secret. Read at each delivery. */
  readonly secret?: string | undefined
  /** The addresses that callbacks may be sent to. */
  readonly addresses: AddressRules
  /** The pause before each retry. */
  readonly delaysMs?: readonly number[]
  /** Makes the body of a callback whose request names no form. */
  readonly body: (status: SnippetStatus, blobs: BlobStore) => Promise<string>
  /** Forms of other interfaces, by the name that requests use for them. */
  readonly forms?: CallbackForms
}

/** Shared by the parts of the service. */
export interface SnippetTools extends Omit<SnippetServiceOptions, 'callbacks' | 'log'> {
  readonly log: Log
  readonly offers: LiveOffers
  readonly awaited: AwaitedLanguages
  readonly durations: CodeDurations
  readonly views: SnippetViews
  /** Submissions with a key that are in progress, by the name of their operation. */
  readonly underWay: Map<string, Promise<unknown>>
}
