/**
 * The client's description of itself and of its request, for logs, fair shares and people. It is not authenticated, so
 * no decision may depend on it.
 */
export interface RequestMetadata {
  readonly toolName: string
  readonly toolVersion: string
  /** Ties together the calls for one action. */
  readonly actionId: string
  /** The invocation: one build. */
  readonly toolInvocationId: string
  /** Groups related invocations, such as those of one CI run. */
  readonly correlatedInvocationsId: string
  readonly actionMnemonic: string
  readonly targetId: string
  readonly configurationId: string
}
