import de.bwaldvogel.mongo.MongoBackend;
import de.bwaldvogel.mongo.MongoServer;
import de.bwaldvogel.mongo.MongoVersion;
import de.bwaldvogel.mongo.backend.memory.MemoryBackend;
import de.bwaldvogel.mongo.bson.Document;
import de.bwaldvogel.mongo.wire.message.MongoMessage;
import java.io.File;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReadWriteLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import org.h2.mvstore.MVStore;
import org.h2.mvstore.MVStoreTool;

/**
 * A stand-in for MongoDB on machines where no mongod can be had: mongo-java-server behind a thin front.
 *
 * <p>Usage: {@code MongoFront PORT [FILE]}; without a file everything is in memory. Loopback only.
 *
 * <p>The server alone speaks a wire version that current drivers refuse, gives results of one write that another is
 * changing, and loses up to a second of acknowledged writes when it is killed. The front answers the greeting itself,
 * lets one write in at a time, and answers a write when it is on disk. For development and tests, never production.
 */
public final class MongoFront {
  /** The oldest that current drivers accept. */
  private static final int WIRE_VERSION = 9;

  private static final MongoVersion VERSION =
      new MongoVersion() {
        @Override
        public List<Integer> getVersionArray() {
          return List.of(5, 0, 0);
        }

        @Override
        public int getWireVersion() {
          return WIRE_VERSION;
        }
      };

  /** Bytes of a file. */
  private static final long WORTH_COMPACTING = 256L << 20;

  private static final Set<String> WRITES =
      Set.of(
          "insert", "update", "delete", "findandmodify", "create", "createindexes", "drop", "dropdatabase",
          "dropindexes", "deleteindexes", "renamecollection");

  private static final ReadWriteLock LOCK = new ReentrantReadWriteLock(true);

  private static MVStore store;

  /** Writes finished so far, and how many of them are on disk. */
  private static final AtomicLong written = new AtomicLong();

  private static final Object commit = new Object();
  private static long committed;

  private interface Call {
    Document run() throws Throwable;
  }

  public static void main(String[] args) throws Exception {
    MongoBackend backend = args.length > 1 ? onDisk(args[1]) : new MemoryBackend();
    backend.version(VERSION);
    MongoServer server = new MongoServer(inFrontOf(backend));
    server.bind("127.0.0.1", Integer.parseInt(args[0]));
    System.out.println("listening at " + server.getConnectionString());
    Runtime.getRuntime().addShutdownHook(new Thread(server::shutdownNow));
  }

  private static MongoBackend onDisk(String file) {
    // what an interrupted compaction left
    MVStoreTool.compactCleanUp(file);
    store = open(file);
    // without commits of its own the store never tidies up: what is dead stays in the file, and in the heap as its map
    if (new File(file).length() > WORTH_COMPACTING && store.getFillRate() < 50) {
      store.close();
      MVStoreTool.compact(file, false);
      store = open(file);
    }
    return new IndexedBackend(store);
  }

  private static MVStore open(String file) {
    return new MVStore.Builder().fileName(file).autoCommitDisabled().cacheSize(128).open();
  }

  private static MongoBackend inFrontOf(MongoBackend backend) {
    return (MongoBackend)
        Proxy.newProxyInstance(
            MongoFront.class.getClassLoader(),
            new Class<?>[] {MongoBackend.class},
            (proxy, method, args) -> {
              Call call =
                  () -> {
                    try {
                      return (Document) method.invoke(backend, args);
                    } catch (InvocationTargetException e) {
                      throw e.getCause();
                    }
                  };
              if (method.getName().equals("handleCommand")) {
                return handle((String) args[2], (Document) args[3], call);
              }
              if (method.getName().equals("handleMessage")) {
                Document query = ((MongoMessage) args[0]).getDocument();
                return handle(query.keySet().iterator().next(), query, call);
              }
              try {
                return method.invoke(backend, args);
              } catch (InvocationTargetException e) {
                throw e.getCause();
              }
            });
  }

  @SuppressWarnings("unchecked")
  private static Document handle(String name, Document query, Call call) throws Throwable {
    String command = name.toLowerCase();
    switch (command) {
      case "hello":
      case "ismaster":
        return greeting();
      case "committransaction":
      case "aborttransaction":
      case "endsessions":
      case "refreshsessions":
      case "killsessions":
        return new Document("ok", 1.0);
      case "aggregate":
        if (query.get("pipeline") instanceof List) {
          List<Object> stages = inKnownStages((List<Object>) query.get("pipeline"));
          query.put("pipeline", stages);
          narrow(query, stages);
        }
        break;
      case "createindexes":
        // a partial unique index would be enforced on all documents: better not at all
        for (Object index : (List<Object>) query.get("indexes")) {
          if (((Document) index).containsKey("partialFilterExpression")) ((Document) index).remove("unique");
        }
        break;
      default:
        break;
    }
    boolean writes = WRITES.contains(command) || (command.equals("aggregate") && writesOut(query));
    Lock lock = writes ? LOCK.writeLock() : LOCK.readLock();
    long ticket = 0;
    Document answer;
    lock.lock();
    try {
      answer = call.run();
      if (command.equals("insert")) countInserted(query, answer);
      if (command.equals("listcollections")) filterByName(query, answer);
      // the answer may hold live documents that the next write changes
      if (answer != null) answer = answer.cloneDeeply();
      if (writes) ticket = written.incrementAndGet();
    } finally {
      IndexedCollection.beginsWith(null, null);
      lock.unlock();
    }
    if (writes && store != null) commitTo(ticket);
    return answer;
  }

  private static void narrow(Document query, List<Object> stages) {
    if (stages.isEmpty() || !(query.get("aggregate") instanceof String)) return;
    Object match = ((Document) stages.get(0)).get("$match");
    if (match instanceof Document) IndexedCollection.beginsWith((String) query.get("aggregate"), (Document) match);
  }

  private static Document greeting() {
    return new Document("helloOk", true)
        .append("isWritablePrimary", true)
        .append("ismaster", true)
        .append("maxBsonObjectSize", 16777216)
        .append("maxMessageSizeBytes", 48000000)
        .append("maxWriteBatchSize", 100000)
        .append("localTime", Instant.now())
        .append("logicalSessionTimeoutMinutes", 30)
        .append("minWireVersion", 0)
        .append("maxWireVersion", WIRE_VERSION)
        .append("readOnly", false)
        .append("ok", 1.0);
  }

  /** One commit covers every write that was finished before it, and never falls into the middle of one. */
  private static void commitTo(long ticket) {
    synchronized (commit) {
      if (committed >= ticket) return;
      LOCK.readLock().lock();
      try {
        long finished = written.get();
        store.commit();
        committed = finished;
      } finally {
        LOCK.readLock().unlock();
      }
    }
  }

  private static boolean writesOut(Document query) {
    return query.toString().matches("(?s).*\\$(merge|out)\\W.*");
  }

  /** Stages that the server does not know, in the words of stages that it does. */
  @SuppressWarnings("unchecked")
  private static List<Object> inKnownStages(List<Object> pipeline) {
    List<Object> known = new ArrayList<>();
    for (Object each : pipeline) {
      Document stage = (Document) each;
      String name = stage.keySet().iterator().next();
      Object value = stage.get(name);
      switch (name) {
        case "$set":
          known.add(new Document("$addFields", value));
          break;
        case "$replaceWith":
          known.add(new Document("$replaceRoot", new Document("newRoot", value)));
          break;
        case "$sortByCount":
          known.add(
              new Document("$group", new Document("_id", value).append("count", new Document("$sum", 1))));
          known.add(new Document("$sort", new Document("count", -1)));
          break;
        case "$facet":
          Document facets = new Document();
          for (Map.Entry<String, Object> facet : ((Document) value).entrySet()) {
            facets.put(facet.getKey(), inKnownStages((List<Object>) facet.getValue()));
          }
          known.add(new Document(name, facets));
          break;
        case "$lookup":
          Document lookup = (Document) value;
          if (lookup.get("pipeline") instanceof List) {
            lookup.put("pipeline", inKnownStages((List<Object>) lookup.get("pipeline")));
          }
          known.add(stage);
          break;
        default:
          known.add(stage);
      }
    }
    return known;
  }

  /** An insert that met an error reports how many documents went in, as MongoDB does. */
  @SuppressWarnings("unchecked")
  private static void countInserted(Document query, Document answer) {
    if (answer == null || !(answer.get("writeErrors") instanceof List)) return;
    if (!(query.get("documents") instanceof List)) return;
    List<Document> errors = (List<Document>) answer.get("writeErrors");
    int size = ((List<?>) query.get("documents")).size();
    boolean unordered = Boolean.FALSE.equals(query.get("ordered"));
    answer.put("n", unordered ? size - errors.size() : ((Number) errors.get(0).get("index")).intValue());
  }

  @SuppressWarnings("unchecked")
  private static void filterByName(Document query, Document answer) {
    if (!(query.get("filter") instanceof Document)) return;
    Object name = ((Document) query.get("filter")).get("name");
    if (!(name instanceof String)) return;
    Document cursor = (Document) answer.get("cursor");
    List<Object> named = new ArrayList<>();
    for (Object collection : (List<Object>) cursor.get("firstBatch")) {
      if (name.equals(((Document) collection).get("name"))) named.add(collection);
    }
    cursor.put("firstBatch", named);
  }

  private MongoFront() {}
}
