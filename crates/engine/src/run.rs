//! One render under way: renderers on several threads, then the steps over everything.

use std::num::NonZero;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use podsmith_object::{Diagnostic, Object};

use crate::parallel::in_order;
use crate::pipeline::Steps;
use crate::{
    Cancel, Cancelled, Context, Emit, EngineOptions, RenderCall, RenderError, RenderOptions, Rendered,
    Renderer, Scopes, SourceSelector, Warnings, hash,
};

/// How many objects of a renderer may wait while the objects of those before it are given out.
const WAITING: usize = 256;

/// Everything one render needs.
pub(crate) struct Run<'a> {
    engine: &'a EngineOptions,
    call: &'a RenderOptions,
    steps: Steps,
    selectors: Vec<Arc<dyn SourceSelector>>,
    tasks: Vec<Task<'a>>,
    /// Warnings of the steps over everything.
    warnings: Warnings,
    threads: usize,
}

/// One renderer with a cancel switch and warnings of its own.
struct Task<'a> {
    renderer: &'a dyn Renderer,
    cancel: Cancel,
    warnings: Warnings,
}

impl<'a> Run<'a> {
    pub fn new(engine: &'a EngineOptions, call: &'a RenderOptions) -> Self {
        let task = |renderer: &'a Arc<dyn Renderer>| Task {
            renderer: renderer.as_ref(),
            cancel: call.cancel.child(),
            warnings: Warnings::new(),
        };
        let processors = || thread::available_parallelism().map_or(1, NonZero::get);
        Self {
            engine,
            call,
            steps: call.steps_after(engine),
            selectors: engine.selectors.iter().chain(&call.selectors).cloned().collect(),
            tasks: engine.renderers.iter().map(task).collect(),
            warnings: Warnings::new(),
            threads: engine.parallelism.unwrap_or_else(processors).max(1),
        }
    }

    /// All objects, or the first error by order.
    pub fn collect(self) -> Result<Rendered, RenderError> {
        let objects = self.render_all()?;
        Ok(Rendered { objects, warnings: self.take_warnings() })
    }

    fn render_all(&self) -> Result<Vec<Object>, RenderError> {
        let mut objects = Vec::new();
        let work = |index| self.run_task(index, |renderer, call| renderer.render(call));
        in_order(self.tasks.len(), self.threads, work, |rendered| {
            if objects.is_empty() {
                objects = rendered?
            } else {
                objects.extend(rendered?)
            }
            Ok::<(), RenderError>(())
        })?;
        let scopes = Scopes::of_batch(&self.engine.scopes, &objects);
        let mut objects = self.steps.run(objects, &self.context().with_scopes(&scopes))?;
        if self.engine.annotate.content_hash {
            objects.iter_mut().for_each(hash::annotate);
        }
        Ok(objects)
    }

    /// Runs one renderer. If it fails, those after it are cancelled: their result can no longer matter. Those before
    /// it go on, because the first error by order wins.
    fn run_task<T>(
        &self,
        index: usize,
        run: impl FnOnce(&dyn Renderer, &RenderCall<'_>) -> Result<T, RenderError>,
    ) -> Result<T, RenderError> {
        let Some(task) = self.tasks.get(index) else { return Err(Cancelled::ByCaller.into()) };
        let context = Context::new(&task.cancel, &task.warnings, &self.engine.scopes);
        let call = RenderCall::new(&self.call.values, context)
            .with_selectors(&self.selectors)
            .with_source_annotations(self.engine.annotate.source)
            .with_cache(self.engine.cache.as_deref())
            .with_parallelism(self.threads / self.threads.min(self.tasks.len()).max(1));
        let result = task.cancel.check().map_err(RenderError::from).and_then(|()| run(task.renderer, &call));
        result.map_err(|error| {
            self.tasks.iter().skip(index + 1).for_each(|after| after.cancel.cancel());
            error.with_renderer(task.renderer.name())
        })
    }

    fn context(&self) -> Context<'_> {
        Context::new(&self.call.cancel, &self.warnings, &self.engine.scopes)
    }

    fn take_warnings(&self) -> Vec<Diagnostic> {
        let of_tasks = self.tasks.iter().flat_map(|task| task.warnings.take());
        of_tasks.chain(self.warnings.take()).collect()
    }

    /// Gives the objects out one by one; see [`crate::Engine::render_each`].
    pub fn stream(self, emit: &mut Emit<'_>) -> Result<Vec<Diagnostic>, RenderError> {
        if !self.steps.post_renderers.is_empty() {
            self.render_all()?.into_iter().try_for_each(emit)?;
            return Ok(self.take_warnings());
        }
        let mut outlet = Outlet::new(&self, emit);
        if self.threads == 1 || self.tasks.len() <= 1 {
            for index in 0..self.tasks.len() {
                let mut stopped = None;
                let result = self.run_task(index, |renderer, call| {
                    renderer.render_each(call, &mut |object| {
                        // An error downstream must not be taken for one of this renderer.
                        outlet.push(object).map_err(|error| {
                            stopped = Some(error);
                            Cancelled::ByCaller.into()
                        })
                    })
                });
                stopped.map_or(result, Err)?;
            }
        } else {
            self.stream_in_parallel(&mut outlet)?;
        }
        outlet.finish()?;
        Ok(self.take_warnings())
    }

    /// Each renderer fills a bounded channel; the channels are emptied in order.
    fn stream_in_parallel(&self, outlet: &mut Outlet<'_, '_>) -> Result<(), RenderError> {
        let channels = self.tasks.iter().map(|_| sync_channel(WAITING));
        let (senders, receivers): (Vec<SyncSender<Message>>, Vec<Receiver<Message>>) = channels.unzip();
        let next = AtomicUsize::new(0);
        let senders: Vec<Mutex<Option<SyncSender<Message>>>> =
            senders.into_iter().map(|sender| Mutex::new(Some(sender))).collect();
        thread::scope(|scope| {
            for _ in 0..self.threads.min(self.tasks.len()) {
                scope.spawn(|| {
                    loop {
                        let index = next.fetch_add(1, Ordering::Relaxed);
                        let Some(slot) = senders.get(index) else { return };
                        let sender = slot.lock().unwrap_or_else(PoisonError::into_inner).take();
                        if let Some(sender) = sender {
                            self.feed(index, &sender);
                        }
                    }
                });
            }
            let result = drain(receivers, outlet);
            if result.is_err() {
                self.tasks.iter().for_each(|task| task.cancel.cancel());
            }
            result
        })
    }

    fn feed(&self, index: usize, sender: &SyncSender<Message>) {
        let gone = |_| RenderError::from(Cancelled::ByCaller);
        let result = self.run_task(index, |renderer, call| {
            renderer.render_each(call, &mut |object| sender.send(Message::Object(object)).map_err(gone))
        });
        // Nobody listens any more after an error of a renderer before this one.
        let _ = sender.send(Message::Done(result));
    }
}

enum Message {
    Object(Object),
    Done(Result<(), RenderError>),
}

/// Empties the channels in order. They are gone afterwards, so a sender that waits fails instead of waiting for ever.
fn drain(receivers: Vec<Receiver<Message>>, outlet: &mut Outlet<'_, '_>) -> Result<(), RenderError> {
    for receiver in receivers {
        // A channel without an end belongs to a renderer that panicked; joining its thread passes the panic on.
        while let Ok(message) = receiver.recv() {
            match message {
                Message::Object(object) => outlet.push(object)?,
                Message::Done(result) => {
                    result?;
                    break;
                }
            }
        }
    }
    Ok(())
}

/// Takes rendered objects through the steps and gives them to the caller.
struct Outlet<'r, 'e> {
    run: &'r Run<'r>,
    emit: &'r mut Emit<'e>,
    /// Set when a transformer must know the scopes of all kinds.
    scopes: Option<Scopes>,
    /// Objects from the first one whose scope is not known yet.
    waiting: Vec<Object>,
}

impl<'r, 'e> Outlet<'r, 'e> {
    fn new(run: &'r Run<'r>, emit: &'r mut Emit<'e>) -> Self {
        let scopes = run.steps.ask_for_scopes().then(|| run.engine.scopes.clone());
        Self { run, emit, scopes, waiting: Vec::new() }
    }

    fn push(&mut self, object: Object) -> Result<(), RenderError> {
        if let Some(scopes) = &mut self.scopes {
            scopes.learn(&object);
            if !self.waiting.is_empty() || scopes.of_object(&object).is_none() {
                self.waiting.push(object);
                return Ok(());
            }
        }
        self.give(object)
    }

    fn give(&mut self, object: Object) -> Result<(), RenderError> {
        let context = self.run.context();
        let context = match &self.scopes {
            Some(scopes) => context.with_scopes(scopes),
            None => context,
        };
        let Some(mut object) = self.run.steps.run_one(object, &context)? else { return Ok(()) };
        if self.run.engine.annotate.content_hash {
            hash::annotate(&mut object);
        }
        (self.emit)(object)
    }

    fn finish(mut self) -> Result<(), RenderError> {
        std::mem::take(&mut self.waiting).into_iter().try_for_each(|object| self.give(object))
    }
}
