import de.bwaldvogel.mongo.MongoDatabase;
import de.bwaldvogel.mongo.backend.CollectionOptions;
import de.bwaldvogel.mongo.backend.CursorRegistry;
import de.bwaldvogel.mongo.backend.Index;
import de.bwaldvogel.mongo.backend.IndexKey;
import de.bwaldvogel.mongo.backend.QueryResult;
import de.bwaldvogel.mongo.backend.ValueComparator;
import de.bwaldvogel.mongo.backend.h2.H2Collection;
import de.bwaldvogel.mongo.bson.Document;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.h2.mvstore.MVMap;

/** A collection that looks into its indexes before it reads all of itself. */
final class IndexedCollection extends H2Collection {
  /** What the aggregation of this thread begins with, when that is a match; its reading may be narrowed by it. */
  private static final ThreadLocal<Document> FIRST_MATCH = new ThreadLocal<>();

  private final Map<String, PrefixIndex> prefixes = new LinkedHashMap<>();

  IndexedCollection(
      MongoDatabase database,
      String name,
      CollectionOptions options,
      MVMap<Object, Document> data,
      MVMap<String, Object> meta,
      CursorRegistry cursors) {
    super(database, name, options, data, meta, cursors);
  }

  /** Tells the next aggregation of this thread that reads this collection what it begins with; null for nothing. */
  static void beginsWith(String collection, Document match) {
    if (match == null) FIRST_MATCH.remove();
    else FIRST_MATCH.set(new Document("collection", collection).append("match", match));
  }

  @Override
  public Stream<Document> queryAllAsStream() {
    Document first = FIRST_MATCH.get();
    if (first == null || !getCollectionName().equals(first.get("collection"))) return super.queryAllAsStream();
    FIRST_MATCH.remove();
    return handleQueryAsStream((Document) first.get("match"));
  }

  @Override
  public void addIndex(Index<Object> index) {
    super.addIndex(index);
    List<String> fields = index.getKeys().stream().map(IndexKey::getKey).collect(Collectors.toList());
    // the server's own index of `_id` does all that can be done with it
    if (fields.get(0).equals(getIdField()) || prefixes.containsKey(index.getName())) return;
    PrefixIndex prefix = new PrefixIndex(fields);
    streamAllDocumentsWithPosition().forEach(each -> prefix.put(each.getPosition(), each.getDocument()));
    prefixes.put(index.getName(), prefix);
  }

  @Override
  public void dropIndex(String name) {
    super.dropIndex(name);
    prefixes.remove(name);
  }

  @Override
  protected Object addDocumentInternal(Document document) {
    Object position = super.addDocumentInternal(document);
    for (PrefixIndex prefix : prefixes.values()) prefix.put(position, document);
    return position;
  }

  @Override
  protected void handleUpdate(Object position, Document before, Document after) {
    super.handleUpdate(position, before, after);
    for (PrefixIndex prefix : prefixes.values()) prefix.put(position, after);
  }

  @Override
  protected void removeDocument(Object position) {
    super.removeDocument(position);
    for (PrefixIndex prefix : prefixes.values()) prefix.remove(position);
  }

  @Override
  protected QueryResult queryDocuments(
      Document query, Document orderBy, int skip, int limit, int batch, Document projection) {
    // reading most of it through an index costs more than reading all of it
    List<Object> found = candidates(query, count() / 2);
    boolean ordered = limit > 0 && orderBy != null && !orderBy.isEmpty();
    if (ordered && (found == null || found.size() > 10L * (skip + limit))) {
      List<Object> first = firstInOrder(query, orderBy, skip + limit);
      if (first != null) found = first;
    }
    if (found == null) return super.queryDocuments(query, orderBy, skip, limit, batch, projection);
    // as they come without an index
    if (orderBy == null || orderBy.isEmpty()) found.sort(ValueComparator.asc());
    return matchDocuments(query, found, orderBy, skip, limit, batch, projection);
  }

  /** The fewest documents that an index names; null when none says anything, or all name more than so many. */
  private List<Object> candidates(Document query, int most) {
    List<Object> fewest = byId(query);
    for (PrefixIndex prefix : prefixes.values()) {
      List<Object> found = prefix.candidates(query, fewest == null ? most : fewest.size());
      if (found != null) fewest = found;
    }
    return fewest == null && query.get("$or") instanceof Collection ? ofAny(query, most) : fewest;
  }

  private List<Object> byId(Document query) {
    if (!query.containsKey(getIdField()) || getIndexes().isEmpty()) return null;
    Document alone = new Document(getIdField(), query.get(getIdField()));
    Index<Object> ids = getIndexes().get(0);
    if (!ids.canHandle(alone)) return null;
    List<Object> found = new ArrayList<>();
    ids.getPositions(alone).forEach(found::add);
    return found;
  }

  private List<Object> ofAny(Document query, int most) {
    Set<Object> all = new LinkedHashSet<>();
    for (Object branch : (Collection<?>) query.get("$or")) {
      List<Object> found = candidates((Document) branch, most);
      if (found == null) return null;
      all.addAll(found);
    }
    return all.size() > most ? null : new ArrayList<>(all);
  }

  private List<Object> firstInOrder(Document query, Document orderBy, int wanted) {
    for (PrefixIndex prefix : prefixes.values()) {
      Iterable<Set<Object>> inOrder = prefix.inOrder(query, orderBy);
      if (inOrder == null) continue;
      List<Object> found = new ArrayList<>();
      for (Set<Object> same : inOrder) {
        for (Object position : same)
          if (documentMatchesQuery(getDocument(position), query)) found.add(position);
        // those of one key belong together: the order among them is for the sorting
        if (found.size() >= wanted) break;
      }
      return found;
    }
    return null;
  }
}
