/** Acknowledged by a majority and in the journal: what was answered after it survives whatever happens. */
export const DURABLE = { writeConcern: { w: 'majority', journal: true } } as const;
